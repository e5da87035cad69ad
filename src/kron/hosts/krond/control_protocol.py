"""What travels on the control socket: arguments of requests, and the shapes of replies."""

import json
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, TypeAlias

from kron.cron.zone import load_zone
from kron.errors import ControlError, KronError, display_text
from kron.instant import parse_instant

MOST_NEXT = 10_000  # decisions in an answer to `next`: 7 MB, and two seconds of computing
_LONGEST = 60  # characters of a wrong value that are shown


def require_string(asked: Mapping[str, Any], key: str) -> str:
    """Return a text that has to be there."""
    value = asked.get(key)
    if not isinstance(value, str):
        raise _wrong(key, value, "must be a text")
    return value


def require_strings(asked: Mapping[str, Any], key: str) -> list[str]:
    """Return texts, at least one."""
    value = asked.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise _wrong(key, value, "must be a list of texts, and not empty")
    return value


def optional_count(asked: Mapping[str, Any], key: str, default: int, *, most: int) -> int:
    """Return a number from 1 to `most`; one that is left out is the default."""
    value = asked.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise _wrong(key, value, f"must be a number from 1 to {most:,}")
    return value


def _wrong(key: str, value: object, right: str) -> ControlError:
    found = "nothing" if value is None else display_text(json.dumps(value, ensure_ascii=False)[:_LONGEST])
    return ControlError(reason=f"{key} {right}, found {found}", exit_code=2)


Check: TypeAlias = Callable[[object], bool]

_LONGEST_ZONE = 64  # characters; the longest name of the database has 38
_LEVELS = frozenset({"error", "warning", "notice"})


def is_reply(command: str, result: object) -> bool:
    """Whether `result` has every field that the command's printer reads; further fields are of a later version."""
    check = _REPLIES.get(command)
    return check is None or check(result)


# --- checks ------------------------------------------------------------------------------------------------------


def _of(kind: object) -> Check:
    return lambda value: type(value) is kind  # JSON has no subclasses: true and false are no numbers


_text, _number, _flag, _nothing = map(_of, (str, int, bool, NoneType))


def _instant(value: object) -> bool:
    try:
        return isinstance(value, str) and parse_instant(value) is not None
    except KronError:
        return False


def _zone(value: object) -> bool:
    try:
        return isinstance(value, str) and len(value) <= _LONGEST_ZONE and load_zone(value) is not None
    except KronError:
        return False


def _level(value: object) -> bool:
    return isinstance(value, str) and value in _LEVELS


def _maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _rows(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _fields(**checks: Check) -> Check:
    return lambda value: (
        isinstance(value, dict) and all(key in value and check(value[key]) for key, check in checks.items())
    )


_FINDING = _fields(file=_text, line=_number, field=_text, level=_level, message=_text, fix=_text)
_FAILED_FILE = _fields(file=_text, findings=_rows(_FINDING))
_CHANGES = _fields(
    declared_at=_text, added=_rows(_text), changed=_rows(_text), removed=_rows(_text), unchanged=_rows(_text)
)
_RELOADED = _fields(ok=_flag, findings=_rows(_FINDING))


def _reloaded(value: object) -> bool:
    return _RELOADED(value) and isinstance(value, dict) and ("declared_at" not in value or _CHANGES(value))


_STATUS = _fields(
    pid=_number,
    version=_text,
    started_at=_text,
    ready=_flag,
    draining=_flag,
    state=_text,
    config=_rows(_text),
    listen=_text,
    jobs=_number,
    clock_ahead=_maybe(_fields(count=_number, detail=_text)),
    active=_rows(_fields(run_id=_text, identity=_text, pid=_maybe(_number), started_at=_text)),
    failed_reload=_maybe(_rows(_FINDING)),
    failed_files=_rows(_FAILED_FILE),
)
_LATER = _fields(
    failed_listen=_maybe(_fields(error=_text)),
    failed_ledger=_maybe(_fields(since=_text, error=_text)),
    set_aside=_rows(_fields(identity=_text, error=_text)),
)
_ABSENT: Mapping[str, object] = {"failed_listen": None, "failed_ledger": None, "set_aside": []}


def _status(value: object) -> bool:
    """Whether it is a status; an earlier krond leaves out the later fields."""
    return _STATUS(value) and isinstance(value, dict) and _LATER({**_ABSENT, **value})


_REPLIES: Mapping[str, Check] = {
    "ping": _nothing,
    "status": _status,
    "jobs": _rows(
        _fields(
            name=_text,
            schedule=_text,
            timezone=_zone,
            suspended=_flag,
            next_chosen_time=_maybe(_instant),
            active=_number,
            last_result=_maybe(_text),
            last_outcome=_maybe(_text),
        )
    ),
    "next": _rows(
        _fields(
            name=_text,
            nominal_time=_instant,
            chosen_time=_maybe(_instant),
            timezone=_zone,
            suspended=_flag,
            reason=_maybe(_text),
        )
    ),
    "suspend": _fields(identities=_rows(_text), until=_maybe(_text)),
    "resume": _fields(identities=_rows(_text)),
    "trigger": _text,
    "wait": _text,
    "reload": _reloaded,
    "stop": _nothing,
}
