"""OldOutput: what was final long ago leaves the disk, and nothing else."""

import os
from pathlib import Path

from kron.adapters.process_runner.old_output import OldOutput


def written(path: Path, at: float) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("output")
    os.utime(path, (at, at))
    return path


def test_only_final_output_from_before_is_removed(tmp_path: Path) -> None:
    old = written(tmp_path / "old.log", 99)
    kept = [
        written(tmp_path / "young.log", 100),
        written(tmp_path / "journal", 1),
        written(tmp_path / "live" / "0-0-1", 1),
        written(tmp_path / "index" / "run", 1),
    ]

    assert not OldOutput(tmp_path, before=100).bite()

    assert not old.exists()
    assert all(path.exists() for path in kept)


def test_a_bite_is_small_and_the_walk_comes_to_an_end(tmp_path: Path) -> None:
    for number in range(1_100):
        written(tmp_path / f"{number}.log", 1)
    walk = OldOutput(tmp_path, before=100)

    left = []
    while walk.bite():
        left.append(len(list(tmp_path.iterdir())))

    assert left == [600, 100]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert not OldOutput(tmp_path / "missing", before=100).bite()
