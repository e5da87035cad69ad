"""A certificate authority and its certificates, for TLS on loopback."""

import subprocess
from pathlib import Path
from typing import NamedTuple


class KeyPair(NamedTuple):
    """A certificate and its key, as files in PEM."""

    certificate: Path
    key: Path


def authority(folder: Path, name: str) -> KeyPair:
    """Return an authority that trusts itself, without the extensions that old clusters do not have either."""
    pair = KeyPair(folder / f"{name}.crt", folder / f"{name}.key")
    _openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", f"/CN={name}", "-keyout", pair.key, "-out", pair.certificate,
    )  # fmt: skip
    return pair


def signed(folder: Path, name: str, by: KeyPair, *, whose: str = "IP:127.0.0.1") -> KeyPair:
    """Return a pair that the authority has signed for one address or name."""
    pair = KeyPair(folder / f"{name}.crt", folder / f"{name}.key")
    request, extensions = folder / f"{name}.csr", folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName={whose}\n")
    _openssl(
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
        "-keyout", pair.key, "-out", request,
    )  # fmt: skip
    _openssl(
        "x509", "-req", "-days", "2", "-in", request, "-CA", by.certificate, "-CAkey", by.key, "-CAcreateserial",
        "-extfile", extensions, "-out", pair.certificate,
    )  # fmt: skip
    return pair


def encrypted(folder: Path, pair: KeyPair) -> Path:
    """Return the pair's key, locked by a password."""
    path = folder / "locked.key"
    _openssl("pkcs8", "-topk8", "-in", pair.key, "-passout", "pass:hush", "-out", path)
    return path


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
