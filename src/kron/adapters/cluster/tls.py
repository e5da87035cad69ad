"""client_tls(...) -> the rules of a TLS connection: whom we trust, and who we are."""

import ssl
from tempfile import NamedTemporaryFile


def client_tls(
    authority: str = "", *, certificate: bytes = b"", key: bytes = b"", is_verified: bool = True
) -> ssl.SSLContext:
    """Return a context that trusts the authority (PEM), or the host's if there is none.

    Raise ssl.SSLError or ValueError for what is no certificate or no key.
    """
    context = ssl.create_default_context(cadata=authority or None)
    # Many clusters made their authority before its extensions were required; the servers' other clients accept it.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate:
        with NamedTemporaryFile(prefix="kron-") as file:  # the library reads files only; this one is ours alone
            file.write(certificate + b"\n" + key)
            file.flush()
            context.load_cert_chain(file.name, password=_no_password)
    return context


def _no_password() -> str:
    raise ValueError("the key is encrypted, and nobody can be asked for its password")
