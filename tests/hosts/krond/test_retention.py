"""Tests of remove_old_output: old output is removed from the disk, and nothing else."""

import os
from pathlib import Path

from kron.adapters.process.spool import Spool
from kron.hosts.krond.retention import remove_old_output


def written(path: Path, at: float) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("output")
    os.utime(path, (at, at))
    return path


def test_only_output_from_before_is_removed(tmp_path: Path) -> None:
    old = written(tmp_path / "old.log", 99)
    kept = [
        written(tmp_path / "young.log", 100),
        written(tmp_path / "spools", 1),
        written(tmp_path / "live" / "1", 1),
    ]

    assert not any(remove_old_output(tmp_path, before=100))

    assert not old.exists()
    assert all(path.exists() for path in kept)


def test_the_log_of_a_run_that_may_still_write_stays(tmp_path: Path) -> None:
    written(tmp_path / "live" / "1", 1)
    (tmp_path / "spools").write_text(Spool("1", "silent", "stdout", 100).line())
    log = written(tmp_path / "silent.log", 1)

    assert not any(remove_old_output(tmp_path, before=100))

    assert log.exists()


def test_a_turn_is_short_and_the_walk_comes_to_an_end(tmp_path: Path) -> None:
    for number in range(1_100):
        written(tmp_path / f"{number}.log", 1)
    walk = remove_old_output(tmp_path, before=100)

    left = [len(list(tmp_path.iterdir())) for _ in walk]

    assert left == [600, 100]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert not any(remove_old_output(tmp_path / "missing", before=100))
