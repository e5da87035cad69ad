"""OldOutput: removes the output of executions that ended long ago, a few files at a time."""

import os
from collections.abc import Iterator
from contextlib import suppress

_BITE = 500  # files looked at in one go


class OldOutput:
    """One walk over the folder. Output that may still grow lies elsewhere: only what is final has its name."""

    def __init__(self, folder: str | os.PathLike[str], before: float) -> None:
        """`before`, in seconds since 1970: what was final by then goes."""
        self._folder, self._before = folder, before
        self._left: Iterator[os.DirEntry[str]] | None = None

    def bite(self) -> bool:
        """Look at some files; whether there are more."""
        try:
            if self._left is None:
                self._left = os.scandir(self._folder)
            for _ in range(_BITE):
                self._look(next(self._left))
        except (StopIteration, OSError):
            return False
        return True

    def _look(self, entry: "os.DirEntry[str]") -> None:
        if entry.name.endswith(".log"):
            with suppress(OSError):  # gone meanwhile, or not ours to remove: the next walk comes by again
                if entry.stat(follow_symlinks=False).st_mtime < self._before:
                    os.unlink(entry.path)  # noqa: PTH108  # many of them
