"""StateDirectory: the directory of one krond: its files, their permissions, and the lock that keeps others out."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kron.adapters.files.trust import UntrustedFileError, Warnings, open_folder
from kron.adapters.sqlite.file_lock import FileLock
from kron.errors import LedgerInUseError, LedgerUnusableError, LedgerWriteError, StateDirectoryError

_MOVE = "remove the link, or have the whole state directory elsewhere"


class StateDirectory:
    """A directory of ours alone, held by a lock until `release`. It is made if missing, and never repaired.

    It is taken through descriptors: each directory above it is checked after it is opened, and the lock is looked up in
    the open directory. What is in it is then reached by its path, because no other user can change that: `hold`
    makes sure before each transaction that the path still leads to the lock.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger = path / "ledger.db"
        self.control = path / "control.sock"
        self.token = path / "token"
        self.output = path / "output"
        self.warnings: Warnings = []  # of the directories above it
        self.on_taken: Callable[[StateDirectoryError], object] = lambda _: None
        self._possession: FileLock | None = None
        self._is_mounted = False

    def lock(self) -> None:
        """Make the directory if it is missing, check that no other user can reach into it, and lock it."""
        with self._opened(make=True) as folder:
            with suppress(OSError):
                if stat.S_ISLNK(os.stat("output", dir_fd=folder, follow_symlinks=False).st_mode):
                    reason = "is refused: its output is a link"
                    raise StateDirectoryError(path=str(self.path), reason=reason, fix=_MOVE)
            try:
                self._possession = FileLock(self.ledger, lock=self.path / "lock", mode=0o600, folder=folder)
            except LedgerInUseError as error:
                reason = f"is in use by {error.details['owner']}"
                raise StateDirectoryError(path=str(self.path), reason=reason, fix="give each krond its own") from error
            except LedgerUnusableError as error:
                reason = f"cannot be locked: {error.details['reason']}"
                raise StateDirectoryError(path=str(self.path), reason=reason) from error

    def hold(self) -> bool:
        """Return whether the directory is held as before; if its lock was removed, take it again and return False.

        If another krond has it, `on_taken` is called, in the calling thread. LedgerWriteError: nothing may be written.
        """
        possession = self._possession
        if possession is None or possession.is_in_place():
            return True
        try:
            with self._opened() as folder:
                possession.renew(folder)
        except StateDirectoryError as error:
            raise self._lost(error.details["reason"], retry_soon=True) from error
        except LedgerUnusableError as error:
            raise self._lost(error.details["reason"], retry_soon=True) from error
        except LedgerInUseError as error:
            reason = f"was taken by {error.details['owner']} after its lock was removed"
            self.on_taken(StateDirectoryError(path=str(self.path), reason=reason, fix="give each krond its own"))
            raise self._lost(reason) from error
        return False

    def _lost(self, reason: object, *, retry_soon: bool = False) -> LedgerWriteError:
        why = f"its directory {reason}"
        return LedgerWriteError(path=str(self.ledger), reason=why, retry_soon=retry_soon)

    def unlock(self) -> None:
        """Let another have it."""
        if self._possession is not None:
            self._possession.release()
            self._possession = None

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[int]:
        """Yield a descriptor of the directory, if no other user can reach into it."""
        try:
            above, self.warnings = open_folder(str(self.path.parent), make=make)
        except UntrustedFileError as error:
            raise StateDirectoryError(path=str(self.path), reason=error.reason, fix=error.fix) from error
        except OSError as error:
            raise self._unusable("made" if make else "opened", error) from error
        try:
            folder = self._open_in(above, make=make)
        finally:
            os.close(above)
        try:
            yield folder
        finally:
            os.close(folder)

    def _open_in(self, above: int, *, make: bool) -> int:
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(self.path.name, 0o700, dir_fd=above)
            folder = os.open(self.path.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        except OSError as error:
            raise self._unusable("made" if make else "opened", error) from error
        try:
            found = os.fstat(folder)
            _check_private(found, self.path)
            is_mounted = found.st_dev != os.fstat(above).st_dev
            if make:
                self._is_mounted = is_mounted
            elif self._is_mounted and not is_mounted:  # what is below its mount point is another directory
                raise StateDirectoryError(path=str(self.path), reason="is not mounted", fix="mount it again")
        except BaseException:
            os.close(folder)
            raise
        return folder

    def _unusable(self, what: str, error: OSError) -> StateDirectoryError:
        return StateDirectoryError(path=str(self.path), reason=f"cannot be {what}: {error.strerror}")

    @contextmanager
    def reporting_errors(self) -> Iterator[None]:
        """Say of what cannot be made or read in it that it is this directory's."""
        try:
            yield
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            raise StateDirectoryError(path=str(self.path), reason=f"cannot be used: {where}{error.strerror}") from error


def _check_private(found: os.stat_result, path: Path) -> None:
    """Refuse a directory that is a link, belongs to another user, or that others may read."""
    if stat.S_ISLNK(found.st_mode):
        raise StateDirectoryError(path=str(path), reason="is a link", fix="give the directory that it leads to")
    if not stat.S_ISDIR(found.st_mode):
        raise StateDirectoryError(path=str(path), reason="is not a directory")
    if found.st_uid != os.geteuid():
        raise StateDirectoryError(
            path=str(path), reason=f"belongs to uid {found.st_uid}, not {os.geteuid()}", fix="run krond as its owner"
        )
    if found.st_mode & 0o077:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise StateDirectoryError(path=str(path), reason=f"has mode {mode}", fix=f"chmod 700 {path}")


def default_state_directory() -> Path:
    """Return where a krond of this user keeps its state without `--state`."""
    if state := os.environ.get("KROND_STATE"):
        return Path(state).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/krond")
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "krond"
