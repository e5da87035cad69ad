"""Create the server's certificate, which is its own authority, and the signing keys of tokens."""

import subprocess
from pathlib import Path

CERTIFICATE, KEY = "server.crt", "server.key"
SIGNING_KEY, CHECKING_KEY = "tokens.key", "tokens.pub"
_CURVE = ("-pkeyopt", "ec_paramgen_curve:P-256")
_EXTENSIONS = (
    "subjectAltName=IP:127.0.0.1,DNS:localhost",
    "basicConstraints=critical,CA:TRUE",
    "keyUsage=critical,digitalSignature,keyCertSign",
)


def make_certificates(folder: Path) -> None:
    """Write the four files, good for a day."""
    added = [word for each in _EXTENSIONS for word in ("-addext", each)]
    _openssl(folder, "genpkey", "-algorithm", "EC", *_CURVE, "-out", SIGNING_KEY)
    _openssl(folder, "pkey", "-in", SIGNING_KEY, "-pubout", "-out", CHECKING_KEY)
    _openssl(
        folder, "req", "-x509", "-newkey", "ec", *_CURVE, "-noenc", "-days", "1", "-subj", "/CN=kron-test",
        "-keyout", KEY, "-out", CERTIFICATE, *added,
    )  # fmt: skip


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
