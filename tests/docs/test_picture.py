"""The picture of the page: there, small enough for the repository, and taken again by its script."""

from pathlib import Path

import pytest

from tests.docs.picture import LARGEST, PICTURE, take

ROOT = Path(__file__).parents[2]


def is_png(picture: Path) -> bool:
    return picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_the_picture_in_the_repository_is_a_small_png() -> None:
    assert is_png(PICTURE)
    assert PICTURE.stat().st_size < LARGEST


@pytest.mark.parametrize("page", ["README.md", "docs/page.md"])
def test_a_page_shows_the_picture(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")

    assert PICTURE.relative_to((ROOT / page).parent).as_posix() in text


@pytest.mark.slow
def test_the_script_takes_a_small_picture_of_a_running_krond(tmp_path: Path) -> None:
    take(tmp_path / "page.png")

    assert is_png(tmp_path / "page.png")
    assert 50_000 < (tmp_path / "page.png").stat().st_size < LARGEST
