"""Tests of the kubeconfig that tests give to a client."""

from pathlib import Path

from kron.adapters.kubernetes.manifests import read_manifests
from tests.cluster.kubeconfig import write_kubeconfig


def test_a_kubeconfig_needs_no_other_file_and_is_its_owners(tmp_path: Path) -> None:
    file = write_kubeconfig(
        tmp_path / "config", server="https://127.0.0.1:1", authority="CA\n", token="secret", namespace="prod"
    )

    (config,) = read_manifests(file.read_text("utf-8"))
    assert file.stat().st_mode & 0o777 == 0o600
    assert config["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": "Q0EK",
    }
    assert config["users"][0]["user"] == {"token": "secret"}
    assert config["contexts"][0]["context"]["namespace"] == "prod"


def test_without_a_namespace_the_context_has_none(tmp_path: Path) -> None:
    file = write_kubeconfig(tmp_path / "config", server="https://127.0.0.1:1", authority="CA\n", token="secret")

    (config,) = read_manifests(file.read_text("utf-8"))
    assert "namespace" not in config["contexts"][0]["context"]
