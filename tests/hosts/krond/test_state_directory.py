"""Tests of the state directory: it belongs to one krond, or is clearly refused."""

import os
import stat
from pathlib import Path

import pytest

from kron.errors import StateDirectoryError
from kron.hosts.krond.state_directory import StateDirectory, default_state_directory
from tests.hosts.krond.command_runner import krond


def taken(path: Path) -> StateDirectory:
    state = StateDirectory(path)
    state.lock()
    return state


def test_a_missing_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    state = taken(tmp_path / "deep" / "state")

    assert stat.S_IMODE(state.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((state.path / "lock").stat().st_mode) == 0o600


def test_two_kronds_cannot_have_one_directory_and_the_error_names_the_first(tmp_path: Path) -> None:
    state = taken(tmp_path / "state")

    with pytest.raises(StateDirectoryError, match="in use by another scheduler of this process"):
        taken(tmp_path / "state")
    state.unlock()
    taken(tmp_path / "state")


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o701, 0o770])
def test_a_directory_that_others_may_look_into_is_refused_and_not_repaired(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "state"
    path.mkdir()
    path.chmod(mode)

    with pytest.raises(StateDirectoryError, match=f"has mode {mode:04o}"):
        taken(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "state").symlink_to(tmp_path / "real")

    with pytest.raises(StateDirectoryError, match="is a link"):
        taken(tmp_path / "state")


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")

    with pytest.raises(StateDirectoryError, match="is not a directory"):
        taken(tmp_path / "state")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory away")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.mkdir(mode=0o700)
    os.chown(path, 65534, 65534)

    with pytest.raises(StateDirectoryError, match="belongs to uid 65534"):
        taken(path)


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.mkdir(mode=0o700)
    (path / "lock").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StateDirectoryError, match=r"cannot be locked: .*lock cannot be opened: it is a link"):
        taken(path)
    assert not (tmp_path / "elsewhere").exists()


def test_an_output_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.mkdir(mode=0o700)
    (tmp_path / "elsewhere").mkdir()
    (path / "output").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StateDirectoryError, match="its output is a link"):
        taken(path)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_state_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KROND_STATE", str(tmp_path))

    assert default_state_directory() == tmp_path


def test_an_empty_word_of_the_environment_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KROND_STATE", "")

    assert default_state_directory() != Path.cwd()


@pytest.mark.parametrize(
    "command", [("run", "--config", "examples/krond.toml"), ("status",)], ids=lambda words: words[0]
)
def test_an_empty_path_is_wrong_usage(command: tuple[str, ...]) -> None:
    answer = krond(*command, "--state", "")

    assert answer.code == 2
    assert "a path must not be empty" in answer.err
