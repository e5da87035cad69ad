"""A temporary folder on the real disk: /tmp may be memory, where a commit costs nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.environments import BENCH_HOME


@contextmanager
def disk_folder() -> Iterator[Path]:
    """Return an empty folder below .bench/tmp."""
    home = BENCH_HOME / "tmp"
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=home, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
