"""State: the directory of one krond: who may have it, what lies where, and that nobody else is in it."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kron.adapters.sqlite_ledger.possession import Possession
from kron.errors import LedgerInUseError, LedgerUnusableError, StateDirectoryError

_MOVE = "remove the link, or have the whole state directory elsewhere"


class State:
    """A directory of ours alone, held by a lock until `release`. It is made if missing, and never repaired."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger = path / "ledger.db"
        self.control = path / "control.sock"
        self.token = path / "token"
        self.output = path / "output"
        self._possession: Possession | None = None

    def take(self) -> None:
        """Make the directory if it is missing, check that nobody else can reach into it, and lock it."""
        try:
            self.path.mkdir(mode=0o700, parents=True)
        except FileExistsError:
            pass
        except OSError as error:
            raise StateDirectoryError(path=str(self.path), reason=f"cannot be made: {error.strerror}") from error
        check_private(self.path)
        if self.output.is_symlink():
            raise StateDirectoryError(path=str(self.path), reason="is refused: its output is a link", fix=_MOVE)
        try:
            self._possession = Possession(self.ledger, lock=self.path / "lock", mode=0o600)
        except LedgerInUseError as error:
            reason = f"is in use by {error.details['owner']}"
            raise StateDirectoryError(path=str(self.path), reason=reason, fix="give each krond its own") from error
        except LedgerUnusableError as error:
            reason = f"cannot be locked: {error.details['reason']}"
            raise StateDirectoryError(path=str(self.path), reason=reason) from error

    def release(self) -> None:
        """Let another have it."""
        if self._possession is not None:
            self._possession.release()
            self._possession = None

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Say of what cannot be made or read in it that it is this directory's."""
        try:
            yield
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            raise StateDirectoryError(path=str(self.path), reason=f"cannot be used: {where}{error.strerror}") from error


def check_private(path: Path) -> None:
    """Refuse a directory that is a link, belongs to somebody else, or that others may look into."""
    try:
        found = path.lstat()
    except OSError as error:
        raise StateDirectoryError(path=str(path), reason=f"cannot be looked at: {error.strerror}") from error
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


def default_state() -> Path:
    """Return where a krond of this user keeps its state if nobody says otherwise."""
    if told := os.environ.get("KROND_STATE"):
        return Path(told).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/krond")
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "krond"
