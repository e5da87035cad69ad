"""Tests of load_cluster_config: where the configuration is looked for, and in which order."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kron.adapters.kubernetes.kubeconfig import ClusterConfig, load_cluster_config
from kron.errors import KubeconfigError
from tests.adapters.kubernetes.certificates import authority
from tests.adapters.kubernetes.scripted_server import live

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def kubeconfig(path: Path, server: str, *, name: str = "one", current: str = "one") -> str:
    """Write a kubeconfig with one context, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"""
current-context: {current}
contexts:
- name: {name}
  context: {{cluster: {name}, user: {name}, namespace: of-{name}}}
clusters:
- name: {name}
  cluster: {{server: {server}}}
users:
- name: {name}
  user: {{token: token-of-{name}}}
"""
    )
    return str(path)


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    """Return the files of a ServiceAccount."""
    found = tmp_path / "serviceaccount"
    found.mkdir()
    (found / "token").write_text("first\n")
    (found / "namespace").write_text("kron-system")
    authority(found, "ca")
    return found


def find(
    environ: Mapping[str, str], kubeconfig: str | None = None, context: str | None = None, *, home: bool = False,
    mount: Path = Path("/nonexistent"),
) -> ClusterConfig:  # fmt: skip
    return load_cluster_config(kubeconfig, context, home=home, environ=environ, mount=mount)


def token(access: ClusterConfig) -> str | None:
    return live(access.credential.authenticate()).authorization


def test_the_file_that_was_named_comes_first(tmp_path: Path) -> None:
    named, other = kubeconfig(tmp_path / "a", "http://named"), kubeconfig(tmp_path / "b", "http://other")

    assert find({"KUBECONFIG": other, **POD}, named).server == "http://named"


def test_then_the_environment_then_the_pod_then_the_home(tmp_path: Path, mount: Path) -> None:
    kubeconfig(tmp_path / ".kube" / "config", "http://home")
    home = {"HOME": str(tmp_path)}
    environment = {"KUBECONFIG": kubeconfig(tmp_path / "a", "http://environment")}

    found = [
        find({**home, **POD, **environment}, home=True, mount=mount).server,
        find({**home, **POD}, home=True, mount=mount).server,
        find(home, home=True, mount=mount).server,
    ]

    assert found == ["http://environment", "https://10.0.0.1:443", "http://home"]


def test_the_home_is_looked_at_only_if_it_may_be(tmp_path: Path) -> None:
    kubeconfig(tmp_path / ".kube" / "config", "http://home")

    with pytest.raises(KubeconfigError, match="there is none"):
        find({"HOME": str(tmp_path)})


def test_a_context_is_never_that_of_the_pod(tmp_path: Path, mount: Path) -> None:
    kubeconfig(tmp_path / ".kube" / "config", "http://home")

    assert find({"HOME": str(tmp_path), **POD}, context="one", home=True, mount=mount).server == "http://home"


def test_several_files_are_one_and_one_that_is_missing_says_nothing(tmp_path: Path) -> None:
    first = kubeconfig(tmp_path / "a", "http://first", name="first", current="second")
    second = kubeconfig(tmp_path / "b", "http://second", name="second", current="first")
    environ = {"KUBECONFIG": f"{first}:{tmp_path / 'missing'}:{second}"}

    found = find(environ)

    assert (found.server, found.namespace, token(found)) == ("http://second", "of-second", "Bearer token-of-second")


def test_if_all_files_are_missing_the_first_is_named(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="x: No such file or directory; name a kubeconfig"):
        find({"KUBECONFIG": f"{tmp_path / 'x'}:{tmp_path / 'y'}"})


def test_a_pod_has_its_server_namespace_and_token(mount: Path) -> None:
    found = find(POD, mount=mount)

    assert (found.server, found.namespace, token(found)) == ("https://10.0.0.1:443", "kron-system", "Bearer first")


def test_a_pod_may_have_a_longer_address(mount: Path) -> None:
    assert find({**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, mount=mount).server == "https://[fd00::1]:443"


def test_a_token_that_was_renewed_is_read_again(mount: Path) -> None:
    found = find(POD, mount=mount)
    before = token(found)
    (mount / "new").write_text("second\n")
    (mount / "new").replace(mount / "token")

    assert (before, token(found)) == ("Bearer first", "Bearer second")


@pytest.mark.parametrize("missing", ["token", "ca.crt"])
def test_a_pod_without_its_files_is_an_error_that_says_which(mount: Path, missing: str) -> None:
    (mount / missing).unlink()

    with pytest.raises(KubeconfigError, match=f"{missing}: No such file or directory; mount the ServiceAccount"):
        find(POD, mount=mount)


def test_an_authority_that_is_none_is_an_error(mount: Path) -> None:
    (mount / "ca.crt").write_text("hello")

    with pytest.raises(KubeconfigError, match=r"ca\.crt: is no certificate"):
        find(POD, mount=mount)
