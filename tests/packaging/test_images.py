"""`make container`, with a program in the place of podman: no image is built here."""

from pathlib import Path

import pytest

from kron._version import __version__
from tests.packaging.images import IMAGES, ROOT, ImageError, base_image, build, engine

DIGEST = f"sha256:{'a' * 64}"
ENGINE = """#!/bin/sh
echo "$@" >> {log}
case "$1" in
image) echo 'docker.io/library/python@{digest}' ;;
run) echo 'kron, version {version}' ;;
esac
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program that notes what it is called with in the place of every engine; return its notes."""
    notes = tmp_path / "log"
    podman = tmp_path / "bin" / "podman"
    podman.parent.mkdir()
    podman.write_text(ENGINE.format(log=notes, digest=DIGEST, version=__version__))
    podman.chmod(0o755)
    monkeypatch.setenv("PATH", f"{podman.parent}:/usr/bin:/bin")
    return notes


def test_every_container_file_is_built_and_started(log: Path) -> None:
    build(engine(), DIGEST)

    calls = log.read_text().splitlines()
    for name, file in IMAGES.items():
        tag = f"{name}:{__version__}"
        assert f"build --build-arg DIGEST={DIGEST} --file {file} --tag {tag} ." in calls
        assert f"run --rm --read-only {tag} --version" in calls


def test_all_container_files_are_built() -> None:
    there = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("[dp]*/Containerfile")}

    assert set(IMAGES.values()) == there


def test_without_a_digest_that_of_the_pulled_base_image_is_taken(log: Path) -> None:
    build(engine(), "")

    calls = log.read_text().splitlines()
    assert calls[1] == f"pull {base_image()}"
    assert f"DIGEST={DIGEST} " in calls[3]


def test_an_image_that_does_not_answer_with_its_version_is_an_error(log: Path) -> None:
    podman = log.parent / "bin" / "podman"
    podman.write_text(podman.read_text().replace(__version__, "another"))

    with pytest.raises(ImageError, match="answers 'kron, version another'"):
        build(engine(), DIGEST)


def test_without_an_engine_nothing_is_built_and_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ImageError, match="NOT built"):
        engine()


@pytest.mark.slow
def test_the_images_of_this_machine_answer() -> None:
    try:
        program = engine()
    except ImageError as error:
        pytest.skip(str(error))

    assert len(build(program, "")) == len(IMAGES)
