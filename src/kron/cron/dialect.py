"""The two cron languages as data: what a field may hold, and what else than numbers, lists and ranges is allowed."""

from collections.abc import Mapping
from types import MappingProxyType

from kron.cron.frozen import Frozen

BLANKS = " \t"
_NO_WORDS: Mapping[str, str] = MappingProxyType({})
_NO_NAMES: Mapping[str, int] = MappingProxyType({})


class Unit(Frozen):
    """One of the five fields: its name, its least and greatest value, and the names of its values."""

    __match_args__ = ("name", "low", "high", "names", "selects_days")
    __slots__ = __match_args__
    __eq__ = object.__eq__  # five constants: identity is equality, and hashing is free
    __hash__ = object.__hash__
    name: str
    low: int
    high: int
    names: Mapping[str, int]
    selects_days: bool  # a leading * in such a field decides whether the two day fields are ORed or ANDed

    def __init__(
        self, name: str, low: int, high: int, names: Mapping[str, int] = _NO_NAMES, *, selects_days: bool = False
    ) -> None:
        super().__init__(name, low, high, names, selects_days)

    def name_of(self, value: int) -> str:
        """Return the name of `value` if this unit names its values, else its number."""
        return next((name for name, number in self.names.items() if number == value), str(value))


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

MINUTE = Unit("minute", 0, 59)
HOUR = Unit("hour", 0, 23)
DAY = Unit("day", 1, 31, selects_days=True)
MONTH = Unit("month", 1, 12, MappingProxyType({name: number for number, name in enumerate(_MONTHS, 1)}))
WEEKDAY = Unit(
    "weekday", 0, 6, MappingProxyType({name: number for number, name in enumerate(_WEEKDAYS)}), selects_days=True
)
UNITS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)


class Dialect(Frozen):
    """What a cron text may use beyond numbers, lists, ranges and a lone `*`."""

    __match_args__ = ("name", "steps", "names", "sunday_is_seven", "refusal", "macros")
    __slots__ = __match_args__
    __eq__ = object.__eq__
    __hash__ = object.__hash__
    name: str
    steps: bool
    names: bool
    sunday_is_seven: bool
    refusal: str  # said of a step or a name where it is not allowed
    macros: Mapping[str, str]

    def __init__(
        self,
        name: str,
        *,
        steps: bool = False,
        names: bool = False,
        sunday_is_seven: bool = False,
        refusal: str = "which is not POSIX",
        macros: Mapping[str, str] = _NO_WORDS,
    ) -> None:
        super().__init__(name, steps, names, sunday_is_seven, refusal, macros)


POSIX = Dialect("posix")
EXTENDED = Dialect(
    "extended",
    steps=True,
    names=True,
    sunday_is_seven=True,
    macros=MappingProxyType(
        {
            "@hourly": "0 * * * *",
            "@daily": "0 0 * * *",
            "@midnight": "0 0 * * *",
            "@weekly": "0 0 * * 0",
            "@monthly": "0 0 1 * *",
            "@yearly": "0 0 1 1 *",
            "@annually": "0 0 1 1 *",
        }
    ),
)
DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.name: dialect for dialect in (POSIX, EXTENDED)})
