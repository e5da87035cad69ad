"""What differs between two builds of the same sources does not reach the source distribution."""

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from tests.packaging.dist import ROOT, differing_files, normalize, source_date_epoch, sources

EPOCH = 1_700_000_000


def archive(path: Path, names: list[str], *, mtime: int, owner: str, mode: int) -> Path:
    """Write an archive with a file of each name, whose content is its name."""
    with tarfile.open(path, "w:gz") as packed:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uname, member.mode = len(name), mtime, owner, mode
            packed.addfile(member, io.BytesIO(name.encode()))
    return path


def test_order_times_owners_and_rights_do_not_make_a_difference(tmp_path: Path) -> None:
    one = archive(tmp_path / "one.gz", ["a", "b"], mtime=1, owner="root", mode=0o600)
    other = archive(tmp_path / "other.gz", ["b", "a"], mtime=2, owner="me", mode=0o664)

    normalize(one, EPOCH)
    normalize(other, EPOCH)

    assert one.read_bytes() == other.read_bytes()


def test_names_and_contents_stay(tmp_path: Path) -> None:
    path = archive(tmp_path / "one.gz", ["b", "a"], mtime=1, owner="me", mode=0o755)

    normalize(path, EPOCH)

    with tarfile.open(path) as packed:
        contents = {member.name: packed.extractfile(member) for member in packed}
        assert {name: file.read() for name, file in contents.items() if file} == {"a": b"a", "b": b"b"}
        assert {(member.mode, member.mtime) for member in packed} == {(0o755, EPOCH)}
    with gzip.open(path) as unpacked:
        unpacked.read(1)
        assert unpacked.mtime == EPOCH


def test_files_that_differ_or_are_missing_are_named(tmp_path: Path) -> None:
    for folder, contents in {
        "one": {"same": "1", "other": "1", "left": "1"},
        "two": {"same": "1", "other": "2"},
    }.items():
        (tmp_path / folder).mkdir()
        for name, text in contents.items():
            (tmp_path / folder / name).write_text(text)

    assert differing_files(tmp_path / "one", tmp_path / "two") == ["left", "other"]


def test_the_time_of_a_build_is_the_one_that_the_environment_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH))

    assert source_date_epoch() == EPOCH


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="NO GIT HERE: all files count as sources")
def test_sources_are_the_files_that_git_knows() -> None:
    found = {str(path) for path in sources()}

    assert {"pyproject.toml", "src/kron/__init__.py", "MANIFEST.in"} <= found
    assert not any(path.startswith((".venv", "dist", "build")) or path.endswith(".pyc") for path in found)


def test_a_copy_without_git_has_the_same_sources_but_for_what_was_made_in_it(tmp_path: Path) -> None:
    for name in ("a.py", "src/b.py", "dist/old.whl", ".venv/c.py", "src/x.egg-info/SOURCES.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    assert sorted(map(os.fspath, sources(tmp_path))) == ["a.py", "src/b.py"]
