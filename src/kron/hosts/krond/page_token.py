"""read_token: the file with the token that opens krond's page, made if there is none."""

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import NamedTuple

from kron.errors import ListenError

_SHORTEST = 16  # characters of a token that somebody else has made
_MOST = 4096  # bytes of a file that can be one


class Token(NamedTuple):
    """A text, and whether it was made just now."""

    text: str
    is_new: bool


def read_token(path: Path) -> Token:
    """Return the token of a file, made if there is none; one that others may read or write is refused."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        reason = "is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise _failure(path, reason) from error
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
        os.close(opened)
        raise _failure(path, "is not a file")
    with os.fdopen(opened, "rb") as file:
        if found.st_uid not in (0, os.geteuid()):
            raise _failure(path, f"belongs to uid {found.st_uid}", "let it belong to root, or to who runs krond")
        if found.st_mode & 0o027:
            raise _failure(path, f"has mode {stat.S_IMODE(found.st_mode):04o}", f"chmod 600 {path}")
        text = file.read(_MOST).decode("ascii", "replace").strip()
    if len(text) < _SHORTEST or not all("!" <= character <= "~" for character in text):
        raise _failure(path, f"is no token of at least {_SHORTEST} characters", "remove it, and krond makes one")
    return Token(text, is_new=False)


def _make(path: Path) -> Token:
    """Make a token that is there as a whole or not at all, whenever the power fails."""
    text = secrets.token_urlsafe(32)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(made, "w") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(made)
        beside.rename(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _failure(path, f"cannot be made: {error.strerror}") from error
    return Token(text, is_new=True)


def _failure(path: Path, reason: str, fix: str = "") -> ListenError:
    return ListenError(address=f"with token {path}", reason=reason, fix=fix)
