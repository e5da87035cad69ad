"""Cron expressions and start times from a seed: the same ones on every machine and for every peer.

Only numbers, lists, ranges and `*` are used, because every peer understands those.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random

ZONES = ("UTC", "America/New_York", "Europe/Paris")
PAIRS = 2000

WRITTEN = (
    # every few minutes or hours
    "* * * * *",
    "0,5,10,15,20,25,30,35,40,45,50,55 * * * *",
    "0,15,30,45 * * * *",
    "7,37 * * * *",
    "0 * * * *",
    "59 * * * *",
    "0-9 * * * *",
    "20 0,2,4,6,8,10,12,14,16,18,20,22 * * *",
    "5 0,6,12,18 * * *",
    "0,30 7-19 * * *",
    "* 3 * * *",
    # once or twice a day
    "0 0 * * *",
    "30 1 * * *",
    "30 2 * * *",
    "15 3 * * *",
    "0 4 * * *",
    "45 23 * * *",
    "59 23 * * *",
    "0 9,17 * * *",
    "10 2,14 * * *",
    # the working week, and its opposite
    "0 9 * * 1-5",
    "0,10,20,30,40,50 8-17 * * 1-5",
    "* 9-16 * * 1-5",
    "30 6 * * 1",
    "0 18 * * 5",
    "0 22 * * 0",
    "25 6 * * 6",
    "0 10 * * 0,6",
    "15 5 * * 1,3,5",
    "0 8 * * 2,4",
    # months, their beginnings and ends, quarters
    "0 0 1 * *",
    "30 4 1,15 * *",
    "0 6 2-6 * *",
    "0 23 31 * *",
    "55 23 30 * *",
    "0 20 28-31 * *",
    "0 0 29 * *",
    "0 5 1 1,4,7,10 *",
    "30 23 31 3,12 *",
    "30 23 30 6,9 *",
    "0 12 10 4-9 *",
    "* * 1 6 *",
    # once a year, or less often
    "0 0 1 1 *",
    "59 23 31 12 *",
    "0 7 24 12 *",
    "0 0 29 2 *",
    "15 10 29 2,8 *",
    # the day or the weekday
    "0 0 13 * 5",
    "0 9 1-7 * 1",
    "30 8 1,15 * 1-5",
    "0 3 31 1,3,5 0",
    "45 11 29 2 6",
)

_SEEDED = 150
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FIRST_START = datetime(2024, 1, 1, tzinfo=UTC)
_LAST_START = datetime(2034, 1, 1, tzinfo=UTC)

# For each field: its least and greatest value, and how often it is `*`, a number, a list, a range.
_FIELDS = ((0, 59, (15, 55, 20, 10)), (0, 23, (25, 45, 15, 15)))
_DAY, _MONTH, _WEEKDAY = (1, 31, (0, 55, 25, 20)), (1, 12, (70, 10, 12, 8)), (0, 6, (0, 40, 30, 30))
# Which of the day fields is restricted: none, the day, the weekday, both.
_DAY_KINDS = (45, 20, 27, 8)


def expressions() -> list[str]:
    """Return the corpus: the written expressions, then seeded ones, all different."""
    seeded = (text for text in generate(1) if text not in WRITTEN)
    return [*WRITTEN, *islice(seeded, _SEEDED)]


def fresh_expressions(count: int) -> list[str]:
    """Return different expressions, none of which is in the corpus."""
    known = set(expressions())
    return list(islice((text for text in generate(2) if text not in known), count))


def pairs() -> list[tuple[int, datetime]]:
    """Return (index of an expression, start) in random order.

    No start is a whole minute, so that "at or after" and "after" have the same answer: the peers differ in that.
    """
    rng = Random(3)
    count = len(expressions())
    seconds = int((_LAST_START - _FIRST_START).total_seconds())
    found = []
    for number in range(PAIRS):
        start = _FIRST_START + timedelta(seconds=rng.randrange(seconds))
        found.append((number % count, start if start.second else start + timedelta(seconds=rng.randint(1, 59))))
    rng.shuffle(found)
    return found


def generate(seed: int) -> Iterator[str]:
    """Yield different expressions that can match, without end."""
    rng = Random(seed)
    seen: set[str] = set()
    while True:
        day_kind = rng.choices(range(4), _DAY_KINDS)[0]
        day = _field(rng, *_DAY) if day_kind in (1, 3) else "*"
        weekday = _field(rng, *_WEEKDAY) if day_kind in (2, 3) else "*"
        month = _field(rng, *_MONTH)
        text = " ".join([*(_field(rng, *field) for field in _FIELDS), day, month, weekday])
        if text not in seen and (weekday != "*" or _exists(day, month)):
            seen.add(text)
            yield text


def values(text: str, low: int, high: int) -> set[int]:
    """Return the values that a field of the corpus names."""
    if text == "*":
        return set(range(low, high + 1))
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _field(rng: Random, low: int, high: int, weights: tuple[int, int, int, int]) -> str:
    match rng.choices(("star", "number", "list", "range"), weights)[0]:
        case "star":
            return "*"
        case "number":
            return str(rng.randint(low, high))
        case "list":
            return ",".join(str(value) for value in sorted(rng.sample(range(low, high + 1), rng.randint(2, 4))))
        case _:
            first, last = sorted(rng.sample(range(low, high + 1), 2))
            return f"{first}-{last}"


def _exists(day: str, month: str) -> bool:
    return any(min(values(day, 1, 31)) <= _LONGEST[number - 1] for number in values(month, 1, 12))
