"""Tests of read_kubeconfig: valid files, and one clear error line for each mistake."""

import base64
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.kubernetes.kubeconfig import ClusterConfig, read_kubeconfig
from kron.adapters.kubernetes.manifests import write_manifest
from kron.errors import KubeconfigError
from tests.adapters.kubernetes.certificates import authority
from tests.adapters.kubernetes.scripted_server import live


def config(
    user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, context: dict[str, Any] | None = None,
    *, current: str = "c", **more: Any,
) -> str:  # fmt: skip
    """Return a kubeconfig with one context."""
    return write_manifest(
        {
            "current-context": current,
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"} | (context or {})}],
            "clusters": [{"name": "k", "cluster": {"server": "http://k"} | (cluster or {})}],
            "users": [{"name": "u", "user": user or {}}],
        }
        | more
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where the kubeconfig is to be."""
    return tmp_path / "config"


def read(file: Path, text: str, context: str | None = None) -> ClusterConfig:
    file.write_text(text)
    return read_kubeconfig([file], context)


def proof(access: ClusterConfig) -> str | None:
    return live(access.credential.authenticate()).authorization


def test_the_current_context_is_meant(file: Path) -> None:
    found = read(file, config({"token": "t"}, {"server": "http://k:1/prefix/"}, {"namespace": "ns"}))

    assert (found.server, found.namespace, proof(found)) == ("http://k:1/prefix", "ns", "Bearer t")


def test_another_context_may_be_named(file: Path) -> None:
    contexts = [{"name": "d", "context": {"cluster": "k", "namespace": "of-d"}}]

    assert read(file, config(contexts=contexts), "d").namespace == "of-d"


def test_a_name_is_a_text_whatever_it_looks_like(file: Path) -> None:
    text = """
current-context: 2026-01-01
contexts: [{name: 2026-01-01, context: {cluster: no, user: 1}}]
clusters: [{name: no, cluster: {server: "http://k"}}]
users: [{name: 1, user: {token: 12e3}}]
"""

    assert proof(read(file, text)) == "Bearer 12e3"


def test_a_kubeconfig_may_be_json(file: Path) -> None:
    text = '{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k"}}],'
    text += '"clusters":[{"name":"k","cluster":{"server":"http://k"}}],"users":null}'

    assert read(file, text).server == "http://k"


def test_a_context_without_a_user_proves_nothing(file: Path) -> None:
    assert proof(read(file, config(context={"user": ""}))) is None


def test_a_name_and_a_password_are_a_proof(file: Path) -> None:
    assert proof(read(file, config({"username": "me", "password": "pass"}))) == "Basic bWU6cGFzcw=="


def test_a_token_file_is_relative_to_the_kubeconfig_and_read_each_time_it_changed(file: Path) -> None:
    (file.parent / "token").write_text("first")
    found = read(file, config({"tokenFile": "token"}))
    before = proof(found)
    (file.parent / "token").write_text("second, longer")

    assert (before, proof(found)) == ("Bearer first", "Bearer second, longer")


def test_a_proxy_and_another_name_for_the_server_are_heeded(file: Path) -> None:
    found = read(file, config(cluster={"proxy-url": "http://proxy:3128", "tls-server-name": "kubernetes"}))

    assert (found.proxy, found.server_name) == ("http://proxy:3128", "kubernetes")


def test_an_authority_may_stand_in_the_kubeconfig_or_beside_it(file: Path) -> None:
    data = base64.b64encode(authority(file.parent, "ca").certificate.read_bytes()).decode()

    for way in ({"certificate-authority": "ca.crt"}, {"certificate-authority-data": data}):
        tls = live(read(file, config(cluster={"server": "https://k", **way})).credential.authenticate()).tls
        assert tls is not None
        assert len(tls.get_ca_certs()) == 1


def test_a_file_that_is_missing_is_reported(file: Path) -> None:
    with pytest.raises(KubeconfigError) as caught:
        read_kubeconfig([file], None)

    assert caught.value.message == (
        f"{file}: No such file or directory; name a kubeconfig with --kubeconfig or in $KUBECONFIG"
    )


WRONG = {
    "not YAML": ("a: [", "line 1: "),
    "not UTF-8": ("\udcff", "codec can't decode"),
    "other YAML": ("- a", "is no kubeconfig, but other YAML"),
    "empty": ("", "is no kubeconfig"),
    "no current context": (config(current=""), "current-context: is missing; name one of contexts"),
    "no such context": (
        config(current="x"), "current-context: there is no context called x; name one of contexts: c",
    ),
    "no contexts": (config(contexts=None), "current-context: there is no context called c; add it to contexts"),
    "contexts of another shape": (config(contexts="c"), "contexts: is no list of mappings"),
    "no such cluster": (config(context={"cluster": "x"}), r"contexts\[c\].context.cluster: there is no cluster"),
    "no such user": (config(context={"user": "x"}), r"contexts\[c\].context.user: there is no user called x"),
    "no server": (config(cluster={"server": None}), r"clusters\[k\].cluster.server: is missing; write https"),
    "no address": (config(cluster={"server": "k:1"}), r"clusters\[k\].cluster.server: k:1 is no address"),
    "no authority": (
        config(cluster={"server": "https://k", "certificate-authority": "x"}),
        r"clusters\[k\].cluster.certificate-authority: .*No such file",
    ),
    "no base64": (config(cluster={"certificate-authority-data": "a"}), "certificate-authority-data: .*in base64"),
    "no certificate": (
        config(cluster={"server": "https://k", "certificate-authority-data": "aGVsbG8="}),
        r"clusters\[k\].cluster.certificate-authority: is no certificate",
    ),
    "no certificate of the user": (
        config({"client-certificate-data": "aGVsbG8="}, {"server": "https://k"}),
        r"users\[u\].user.client-certificate: cannot be used",
    ),
    "a token that is none": (config({"token": ["a"]}), r"users\[u\].user.token: is no text"),
    "what only others can": (config({"auth-provider": {"name": "gcp"}}), "auth-provider: is not supported; use exec"),
    "another user": (config({"as": "root"}), "as: is not supported"),
    "no program": (config({"exec": {"args": ["a"]}}), r"users\[u\].user.exec.command: is missing"),
    "a program that asks": (config({"exec": {"command": "a", "interactiveMode": "Always"}}), "interactiveMode: there"),
    "no words": (config({"exec": {"command": "a", "args": "b"}}), "exec.args: is no list of texts"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_mistake_is_one_line_that_names_file_field_and_fix(file: Path, text: str, message: str) -> None:
    file.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(KubeconfigError, match=f"^{file}: .*{message}") as caught:
        read_kubeconfig([file], None)
    assert "; " in caught.value.message
    assert "\n" not in caught.value.message


def test_a_context_that_was_named_and_is_not_there_is_reported(file: Path) -> None:
    with pytest.raises(KubeconfigError, match="there is no context called x; name one of contexts: c"):
        read(file, config(), "x")


def test_a_secret_is_never_repeated(file: Path) -> None:
    with pytest.raises(KubeconfigError) as caught:
        read(file, config({"token": ["hush"], "password": "hush"}))

    assert "hush" not in f"{caught.value.message}{caught.value.details}"
