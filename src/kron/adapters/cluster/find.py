"""find_access(...) -> Access: which cluster is meant, looked for where clients of clusters look."""

import os
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from kron.adapters.cluster.access import Access
from kron.adapters.cluster.credentials import TokenFile
from kron.adapters.cluster.kubeconfig import read_kubeconfig
from kron.adapters.cluster.tls import client_tls
from kron.errors import KubeconfigError

_MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def find_access(
    kubeconfig: str | None,
    context: str | None,
    *,
    home: bool,
    environ: Mapping[str, str] = os.environ,
    mount: Path = _MOUNT,
) -> Access:
    """Return the access of a kubeconfig that was named, or of $KUBECONFIG, or of the Pod, or of the user's home."""
    if kubeconfig is not None:
        return read_kubeconfig([Path(kubeconfig)], context)
    if paths := [Path(path) for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]:
        present = [path for path in paths if path.exists()]  # of several files each may be missing, but not all
        return read_kubeconfig(present or paths, context)
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "")
    if host and port and context is None:
        return _of_pod(host, port, mount)
    own = Path(environ.get("HOME", "/")) / ".kube" / "config"
    if home and own.exists():
        return read_kubeconfig([own], context)
    fix = "name a kubeconfig with --kubeconfig or in $KUBECONFIG, or run in a Pod with a ServiceAccount"
    raise KubeconfigError(path="kubeconfig", field="", reason="there is none", fix=fix)


def _of_pod(host: str, port: str, mount: Path) -> Access:
    token, authority = mount / "token", mount / "ca.crt"
    try:
        token.read_bytes()
        tls = client_tls(authority.read_text("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise _unmounted(authority, f"is no certificate: {error}") from error
    except OSError as error:
        raise _unmounted(Path(error.filename), error.strerror or str(error)) from error
    namespace = None
    with suppress(OSError):
        namespace = (mount / "namespace").read_text("utf-8").strip() or None
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Access(server=server, credential=TokenFile(token, tls), namespace=namespace)


def _unmounted(path: Path, reason: str) -> KubeconfigError:
    fix = "mount the ServiceAccount's token into the Pod, or name a kubeconfig with --kubeconfig or in $KUBECONFIG"
    return KubeconfigError(path=str(path), field="", reason=reason, fix=fix)
