"""Server and credential, from a kubeconfig file, $KUBECONFIG, the Pod or the home directory."""

import base64
import binascii
import os
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import yaml

from kron.adapters.kubernetes.credentials import (
    Credential,
    ExecConfig,
    ExecCredential,
    RequestAuth,
    StaticCredential,
    TokenFileCredential,
    tls_context,
)
from kron.errors import KubeconfigError, display_text


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """What a connection needs to know. The namespace is the one that is meant if none is named."""

    server: str
    credential: Credential
    namespace: str | None = None
    proxy: str | None = None
    server_name: str | None = None  # the name that the server's certificate must have, if not that of `server`


_NULL, _MERGE = "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"
_NOT_HERE = {  # unsupported keys: ignoring one would send requests as another user
    "auth-provider": "use exec, which has taken its place",
    "as": "use a user of its own",
    "as-groups": "use a user of its own",
    "as-uid": "use a user of its own",
    "as-user-extra": "use a user of its own",
}


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # the library has no types
    """Reads every scalar but null as text, so that a context may be called 1, no or 2026-01-01."""

    yaml_implicit_resolvers: ClassVar[Any] = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag in (_NULL, _MERGE)]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


@dataclass(frozen=True, slots=True)
class _Part:
    """A mapping of a file, and its place in the file, for the errors."""

    path: Path
    field: str
    values: dict[str, Any]

    def wrong(self, key: str, reason: str, fix: str) -> KubeconfigError:
        field = f"{self.field}.{key}" if self.field and key else self.field or key
        return KubeconfigError(path=str(self.path), field=field, reason=reason, fix=fix)

    def text(self, key: str) -> str:
        found = self.values.get(key)
        if found is None or isinstance(found, str):
            return found or ""
        raise self.wrong(key, "is no text", "write one text")

    def part(self, key: str) -> "_Part":
        found = self.values.get(key)
        if found is None or isinstance(found, dict):
            return _Part(self.path, f"{self.field}.{key}" if self.field else key, found or {})
        raise self.wrong(key, "is no mapping", "write keys and values below it")

    def parts(self, key: str) -> list["_Part"]:
        found = self.values.get(key) or []
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self.wrong(key, "is no list of mappings", "write a list of mappings, each with a name")
        place = f"{self.field}.{key}" if self.field else key
        return [_Part(self.path, f"{place}[{number}]", item) for number, item in enumerate(found)]

    def beside(self, text: str) -> Path:
        """Return a path that is written in this file: relative ones begin where it lies."""
        return self.path.parent / Path(text).expanduser()

    def content(self, key: str) -> bytes:
        """Return the bytes that `key`-data has in base64, or those of the file that `key` names."""
        if data := self.text(f"{key}-data"):
            try:
                return base64.b64decode(data, validate=False)
            except (binascii.Error, ValueError) as error:
                raise self.wrong(f"{key}-data", str(error), "write it in base64") from error
        if not (name := self.text(key)):
            return b""
        try:
            return self.beside(name).read_bytes()
        except OSError as error:
            raise self.wrong(key, str(error), "name a file that can be read") from error


def read_kubeconfig(paths: Sequence[Path], context: str | None) -> ClusterConfig:
    """Return how the context, or the current one, is reached; where several files say something, the first wins."""
    files = [_load(path) for path in paths]
    chosen = _context(files, context)
    cluster = _named(files, "clusters", chosen.text("cluster"), chosen.wrong, "cluster").part("cluster")
    user = _Part(chosen.path, "users", {})
    if name := chosen.text("user"):
        user = _named(files, "users", name, chosen.wrong, "user").part("user")
    server = cluster.text("server").rstrip("/")
    if not server.startswith(("https://", "http://")):
        found = f"{server} is no address of a server" if server else "is missing"
        raise cluster.wrong("server", found, "write https://HOST:PORT")
    return ClusterConfig(
        server=server,
        credential=_credential(cluster, user),
        namespace=chosen.text("namespace") or None,
        proxy=cluster.text("proxy-url") or None,
        server_name=cluster.text("tls-server-name") or None,
    )


def _load(path: Path) -> _Part:
    fix = "name a kubeconfig with --kubeconfig or in $KUBECONFIG"
    try:
        found = yaml.load(path.read_text("utf-8"), _Loader)
    except OSError as error:
        raise KubeconfigError(path=str(path), field="", reason=error.strerror or str(error), fix=fix) from error
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise KubeconfigError(path=str(path), field=line, reason=str(error.problem or error), fix=fix) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise KubeconfigError(path=str(path), field="", reason=str(error) or "is no YAML", fix=fix) from error
    if not isinstance(found, dict):
        raise KubeconfigError(path=str(path), field="", reason="is no kubeconfig, but other YAML", fix=fix)
    return _Part(path, "", found)


def _context(files: list[_Part], name: str | None) -> _Part:
    if name is not None:
        return _named(files, "contexts", name, files[0].wrong, "contexts").part("context")
    for file in files:
        if current := file.text("current-context"):
            return _named(files, "contexts", current, file.wrong, "current-context").part("context")
    raise files[0].wrong("current-context", "is missing", "name one of contexts, or give --context")


def _named(files: list[_Part], kind: str, name: str, wrong: Any, key: str) -> _Part:
    """Return the item of that name; `wrong` and `key` are where the name was said."""
    items = [item for file in files for item in file.parts(kind)]
    for item in items:
        if name and item.text("name") == name:
            return _Part(item.path, f"{kind}[{display_text(name)}]", item.values)
    known = ", ".join(display_text(item.text("name")) for item in items[:10])
    error: KubeconfigError = wrong(
        key,
        f"there is no {kind[:-1]} called {name}" if name else "is missing",
        f"name one of {kind}: {known}" if known else f"add it to {kind}",
    )
    raise error


def _credential(cluster: _Part, user: _Part) -> Credential:
    for key, instead in _NOT_HERE.items():
        if user.values.get(key):
            raise user.wrong(key, "is not supported", instead)
    is_encrypted = cluster.text("server").startswith("https://")
    is_verified = cluster.text("insecure-skip-tls-verify").lower() != "true"
    authority = cluster.content("certificate-authority") if is_verified else b""

    def tls(certificate: bytes, key: bytes) -> ssl.SSLContext | None:
        if not is_encrypted:
            return None
        return tls_context(authority.decode("utf-8"), certificate=certificate, key=key, is_verified=is_verified)

    try:
        tls(b"", b"")
    except (ssl.SSLError, ValueError) as error:
        raise cluster.wrong("certificate-authority", f"is no certificate: {error}", "write it as PEM") from error
    certificate, private = user.content("client-certificate"), user.content("client-key")
    if user.values.get("exec") is not None:
        return ExecCredential(_command(user.part("exec"), cluster, authority), tls)
    try:
        context = tls(certificate, private)
    except (ssl.SSLError, ValueError, OSError) as error:
        fix = "write a certificate and its key, not encrypted, as PEM"
        raise user.wrong("client-certificate", f"cannot be used: {error}", fix) from error
    if token := user.text("token"):
        return StaticCredential(RequestAuth(f"Bearer {token}", context))
    if name := user.text("tokenFile"):
        return TokenFileCredential(user.beside(name), context)
    if login := user.text("username"):
        pair = base64.b64encode(f"{login}:{user.text('password')}".encode()).decode("ascii")
        return StaticCredential(RequestAuth(f"Basic {pair}", context))
    return StaticCredential(RequestAuth(None, context))


def _command(plugin: _Part, cluster: _Part, authority: bytes) -> ExecConfig:
    program = plugin.text("command")
    if not program:
        raise plugin.wrong("command", "is missing", "name the program")
    if plugin.text("interactiveMode") == "Always":
        raise plugin.wrong("interactiveMode", "there is no terminal to ask on", "use a plugin that asks nothing")
    words = plugin.values.get("args") or []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise plugin.wrong("args", "is no list of texts", "write a list of texts")
    cluster_info = None
    if plugin.text("provideClusterInfo").lower() == "true":
        cluster_info = {"server": cluster.text("server")}
        if authority:
            cluster_info["certificate-authority-data"] = base64.b64encode(authority).decode("ascii")
    return ExecConfig(
        words=(str(plugin.beside(program)) if "/" in program else program, *words),
        environment=tuple((item.text("name"), item.text("value")) for item in plugin.parts("env")),
        api_version=plugin.text("apiVersion") or "client.authentication.k8s.io/v1",
        cluster=cluster_info,
    )


_MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def load_cluster_config(
    kubeconfig: str | None,
    context: str | None,
    *,
    home: bool,
    environ: Mapping[str, str] = os.environ,
    mount: Path = _MOUNT,
) -> ClusterConfig:
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


def _of_pod(host: str, port: str, mount: Path) -> ClusterConfig:
    token, authority = mount / "token", mount / "ca.crt"
    try:
        token.read_bytes()
        tls = tls_context(authority.read_text("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise _unmounted(authority, f"is no certificate: {error}") from error
    except OSError as error:
        raise _unmounted(Path(error.filename), error.strerror or str(error)) from error
    namespace = None
    with suppress(OSError):
        namespace = (mount / "namespace").read_text("utf-8").strip() or None
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return ClusterConfig(server=server, credential=TokenFileCredential(token, tls), namespace=namespace)


def _unmounted(path: Path, reason: str) -> KubeconfigError:
    fix = "mount the ServiceAccount's token into the Pod, or name a kubeconfig with --kubeconfig or in $KUBECONFIG"
    return KubeconfigError(path=str(path), field="", reason=reason, fix=fix)
