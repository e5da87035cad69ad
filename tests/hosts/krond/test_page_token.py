"""Tests of read_token: created once, for its owner only, and refused if other users could read it."""

import os
import stat
from pathlib import Path

import pytest

from kron.errors import ListenError
from kron.hosts.krond.page import read_token


def test_a_token_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"

    token = read_token(path)

    assert token.is_new
    assert read_token(path) == (token.text, False)
    assert len(token.text) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_token_that_the_user_wrote_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("a-token-of-my-own\n")
    path.chmod(0o640)

    assert read_token(path).text == "a-token-of-my-own"


@pytest.mark.parametrize("text", ["", "short\n", "with blanks in its middle", "mit-Umlauten-äöüäöü"])
def test_a_text_that_is_no_token_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)

    with pytest.raises(ListenError, match="is no token of at least 16 characters; remove it"):
        read_token(path)


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o620, 0o602])
def test_a_token_that_others_may_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    path.write_text("a-token-of-my-own\n")
    path.chmod(mode)

    with pytest.raises(ListenError, match=f"has mode {mode:04o}; chmod 600"):
        read_token(path)


def test_a_link_a_pipe_or_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir()

    with pytest.raises(ListenError, match="is a link"):
        read_token(tmp_path / "link")
    for name in ("pipe", "folder"):
        with pytest.raises(ListenError, match=f"{name}: is not a file"):
            read_token(tmp_path / name)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_token_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("a-token-of-my-own\n")
    path.chmod(0o600)
    os.chown(path, 65534, 65534)

    with pytest.raises(ListenError, match="belongs to uid 65534"):
        read_token(path)


def test_a_folder_that_does_not_exist_says_so(tmp_path: Path) -> None:
    with pytest.raises(ListenError, match="cannot be made: No such file"):
        read_token(tmp_path / "missing" / "token")
