"""deploy/Containerfile, as far as its text shows; the image is not built here."""

import re

from kron.hosts.operator.commands import operator
from kron.hosts.operator.deployment import IMAGE, cluster_objects
from tests.packaging.containerfile import ROOT, Containerfile

FILE = Containerfile("deploy/Containerfile")


def test_the_image_runs_without_rights_and_has_nothing_to_write() -> None:
    assert FILE.has_no_rights()
    assert "VOLUME" not in FILE.text


def test_everything_that_the_image_copies_is_there() -> None:
    assert FILE.copied()
    assert all(path.exists() for path in FILE.copied())


def test_the_image_installs_what_the_operator_needs() -> None:
    assert "'/kron[operator]'" in FILE.text
    assert "--constraint /kron/constraints.txt" in FILE.text


def test_the_entry_point_of_the_image_is_the_installed_command() -> None:
    (program,) = FILE.words("ENTRYPOINT")

    assert program == operator.name
    assert re.search(rf"^RUN ln -s .*/opt/kron/bin/{program}\b", FILE.last, re.MULTILINE)
    assert f'{program} = "kron.entry_points:kron_operator_main"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_pods_say_what_the_image_does_by_itself() -> None:
    (deployment,) = [each for each in cluster_objects() if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]

    assert container["args"] == FILE.words("CMD")
    assert f"EXPOSE {port['containerPort']}" in FILE.last.splitlines()
    assert "command" not in container


def test_the_operator_accepts_the_arguments_of_the_image_and_the_pods() -> None:
    subcommand, *rest = FILE.words("CMD")

    context = operator.commands[subcommand].make_context(subcommand, rest)

    assert context.params["listen"] == "0.0.0.0:8080"


def test_the_file_says_how_to_build_the_image_of_the_manifests() -> None:
    assert f"-f deploy/Containerfile -t {IMAGE} ." in FILE.text
