"""check_field(number, field, value): what the fields of events may hold."""

from collections.abc import Callable, Mapping

from kron.errors import InvalidTraceError
from kron.theory.alphabet import CONCURRENCY


def check_field(number: int, field: str, value: object) -> None:
    """Refuse a field of another type; an unknown field may hold anything."""
    fits, reason = _FIELDS.get(field, (None, ""))
    if fits is not None and not fits(value):
        raise InvalidTraceError(line=number, field=field, found=value, reason=reason)


def _are(items: object, fits: Callable[[Mapping[str, object]], bool]) -> bool:
    return isinstance(items, list) and all(isinstance(item, dict) and fits(item) for item in items)


def _is_registration(item: Mapping[str, object]) -> bool:
    return _is_text(item.get("name"), empty=True) and _is_text(item.get("cron"), empty=True) and _has_delay(item)


def _is_memory(item: Mapping[str, object]) -> bool:
    times = [item.get(name) for name in ("first", "lastStart", "retryAt", "lastFailure")]
    return (
        _is_text(item.get("task"))
        and _is_text(item.get("cron"))
        and _has_delay(item)
        and _is_instant(times[0])
        and all(time is None or _is_instant(time) for time in times)
        and isinstance(item.get("interrupted", False), bool)
    )


def _has_delay(item: Mapping[str, object]) -> bool:
    delay = item.get("retryDelayMs")
    return isinstance(delay, int | float) and not isinstance(delay, bool)


def _is_text(value: object, *, empty: bool = False) -> bool:
    """Whether it is a text that a line can hold."""
    if not isinstance(value, str) or not (value or empty):
        return False
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _is_instant(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_instants(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_instant, value.values()))


def is_count(value: object) -> bool:
    """Whether it is a whole number, not below 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_TEXT = (_is_text, "must be a text")
_COUNT = (is_count, "must be a whole number")
_CHOICE = (lambda value: isinstance(value, bool), "must be true or false")
_FIELDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "task": _TEXT,
    "identity": _TEXT,
    "period": _TEXT,
    "call": _COUNT,
    "attempt": _COUNT,
    "retries": _COUNT,
    "deadlineMs": _COUNT,
    "slackMs": _COUNT,
    "concurrency": (lambda value: value in CONCURRENCY, f"must be one of {', '.join(CONCURRENCY)}"),
    "acceptedMs": (_is_instant, "must be a whole number of milliseconds"),
    "closed": _CHOICE,
    "valid": _CHOICE,
    "clock": (_is_instant, "must be a whole number of milliseconds"),
    "ended": (_is_instant, "must be a whole number of milliseconds"),
    "registrations": (
        lambda value: _are(value, _is_registration),
        (
            "must be a list; each item must have a name and a cron expression, which are texts, "
            "and retryDelayMs, which is a number"
        ),
    ),
    "lastDue": (_are_instants, "must name tasks, each with a whole number of milliseconds"),
    "remembered": (
        lambda value: _are(value, _is_memory),
        "must be a list; each item has task, cron, retryDelayMs, first, perhaps lastStart, retryAt, interrupted",
    ),
}
