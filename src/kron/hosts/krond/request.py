"""text_of, texts_of, number_of: what a request on the control socket says, or one clear error."""

import json
from collections.abc import Mapping
from typing import Any

from kron.errors import ControlError, shown

MOST_NEXT = 10_000  # decisions in an answer to `next`: 7 MB, and two seconds of computing
_LONGEST = 60  # characters of a wrong value that are shown


def text_of(asked: Mapping[str, Any], key: str) -> str:
    """Return a text that has to be there."""
    value = asked.get(key)
    if not isinstance(value, str):
        raise _wrong(key, value, "must be a text")
    return value


def texts_of(asked: Mapping[str, Any], key: str) -> list[str]:
    """Return texts, at least one."""
    value = asked.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise _wrong(key, value, "must be a list of texts, and not empty")
    return value


def number_of(asked: Mapping[str, Any], key: str, default: int, *, most: int) -> int:
    """Return a number from 1 to `most`; one that is left out is the default."""
    value = asked.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise _wrong(key, value, f"must be a number from 1 to {most:,}")
    return value


def _wrong(key: str, value: object, right: str) -> ControlError:
    found = "nothing" if value is None else shown(json.dumps(value, ensure_ascii=False)[:_LONGEST])
    return ControlError(reason=f"{key} {right}, found {found}", exit_code=2)
