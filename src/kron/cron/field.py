"""parse_field(text, unit, dialect) -> Field: the values that one field names, as bits."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from kron.cron.dialect import EXTENDED, UNITS, WEEKDAY, Dialect, Unit
from kron.cron.frozen import Frozen
from kron.errors import FieldParseError
from kron.errors.base import nearest

_ALL = {unit: (2 << unit.high) - (1 << unit.low) for unit in UNITS}
_NUMBERS = {unit: {str(value): 1 << value for value in range(unit.low, unit.high + 1)} for unit in UNITS}
_CACHED_FIELDS = 4096  # real crontabs repeat a few hundred texts; bounded, so that hostile ones cannot fill memory
_QUARTZ_TOKEN = r"[?#]|(?<![A-Z])(?:LW?|W)(?![A-Z])"  # compiled on first use: only a wrong field needs it
_QUARTZ = {
    "?": "write *",
    "L": "list the days, such as 28-31",
    "W": "list the days",
    "#": "list the days, such as 8-14",
}


class Field(Frozen):
    """The values that a field names: bit v of `values` is set if it names v; the first and the last of them.

    `is_starred` matters in the two day fields: the text begins with `*`; elsewhere it means `is_full`.
    """

    __match_args__ = ("unit", "values", "is_starred", "first", "last")
    __slots__ = __match_args__
    unit: Unit
    values: int
    is_starred: bool
    first: int
    last: int

    def __init__(self, unit: Unit, values: int, first: int, last: int, *, is_starred: bool) -> None:
        super().__init__(unit, values, is_starred, first, last)

    def _key(self) -> tuple[object, ...]:
        return self.unit, self.values, self.is_starred, self.first, self.last

    def __contains__(self, value: int) -> bool:
        return self.values >> value & 1 == 1

    def __iter__(self) -> Iterator[int]:
        return (value for value in range(self.first, self.last + 1) if self.values >> value & 1)

    @property
    def is_full(self) -> bool:
        """Whether every value of the unit is named."""
        return self.values == _ALL[self.unit]


def _field(unit: Unit, values: int, *, starred: bool) -> Field:
    return Field(unit, values, (values & -values).bit_length() - 1, values.bit_length() - 1, is_starred=starred)


@lru_cache(_CACHED_FIELDS)
def parse_field(text: str, unit: Unit, dialect: Dialect) -> Field:
    """Return the values that `text` names, or raise FieldParseError with the place and the fix."""
    if text == "*":
        return _every(unit)
    values, bits = 0, _NUMBERS[unit]
    elements = text.split(",")
    for element in elements:
        if element in bits:  # a plain number, the common case
            values |= bits[element]
        else:
            index = elements.index(element)  # of equal ones the first is the one that is refused
            position = sum(map(len, elements[:index])) + index
            values |= _Element(text, position, element, unit, dialect).values()
    return _field(unit, values, starred=text.startswith("*") if unit.selects_days else values == _ALL[unit])


@cache
def _every(unit: Unit) -> Field:
    return _field(unit, _ALL[unit], starred=True)


def print_field(field: Field, dialect: Dialect) -> str:
    """Return the shortest plain text that `parse_field` reads back as the same values, starred or not."""
    if field.is_starred and field.is_full:
        return "*"
    step = _leading_step(field) if dialect.steps else 0
    stepped = _bits(range(field.unit.low, field.unit.high + 1, step)) if step else 0
    regular = not field.unit.selects_days and stepped == field.values and stepped.bit_count() > 2
    if not (field.is_starred or regular):
        return ",".join(_runs(field, without=0))
    return ",".join([f"*/{step}", *_runs(field, without=stepped)])


def _leading_step(field: Field) -> int:
    """Return the smallest n for which `*/n` names only values of the field."""
    unit = field.unit
    steps = range(1, unit.high - unit.low + 2)
    return next((n for n in steps if not _bits(range(unit.low, unit.high + 1, n)) & ~field.values), 0)


def _runs(field: Field, *, without: int) -> list[str]:
    texts: list[str] = []
    for run in group_runs(value for value in field if not without >> value & 1):
        texts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(value) for value in run]
    return texts


def group_runs(values: Iterable[int]) -> list[list[int]]:
    """Return ascending values as lists of neighbours."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][-1] + 1 == value:
            runs[-1].append(value)
        else:
            runs.append([value])
    return runs


def _bits(values: range) -> int:
    return sum(1 << value for value in values)


class _Element:
    """One element of a list: a number, a range, and in dialects with steps `*/n` and `a-b/n`."""

    __slots__ = ("dialect", "field_text", "position", "text", "unit")

    def __init__(self, field_text: str, position: int, text: str, unit: Unit, dialect: Dialect) -> None:
        self.field_text = field_text
        self.position = position
        self.text = text
        self.unit = unit
        self.dialect = dialect

    def values(self) -> int:
        """Return the element's values as bits."""
        body, slash, step_text = self.text.partition("/")
        if slash and not self.dialect.steps:
            raise self.error(f"uses a step ({self.text}), {self.dialect.refusal}", len(body), self._spelled_out())
        step = self._step(step_text, len(body) + 1) if slash else 1
        first, dash, last = body.partition("-")
        if body == "*":
            if not slash:
                raise self.error("has * inside a list", 0, "write * alone: it already names every value")
            low, high = self.unit.low, self.unit.high
        elif dash:
            low, high = self._range(first, last)
        else:
            if slash and not body:
                raise self.error(f"has a step of nothing ({self.text})", 0, f"write *{self.text}")
            low = high = self._number(first, 0)
            if slash:
                last = str(self.unit.high) if first.isdigit() else self.unit.name_of(self.unit.high)
                fix = f"write {first}-{last}/{step_text}"
                raise self.error(f"has a step without a range ({self.text})", len(body), fix)
        bits = _bits(range(low, high + 1, step))
        # Sunday may be written 7 and then stands at the end of a range; it is stored as 0.
        return bits & 0x7F | bits >> 7 & 1 if self.unit is WEEKDAY else bits

    def _range(self, first: str, last: str) -> tuple[int, int]:
        if not first:
            raise self.error(
                f"has a range without a start or a sign ({self.text})", 0, "write plain numbers such as 1-5"
            )
        if not last:
            raise self.error(
                f"has a range without an end ({self.text})", len(first) + 1, f"write {first}-{self.unit.high}"
            )
        low, high = self._number(first, 0), self._number(last, len(first) + 1)
        if self.unit is WEEKDAY and last.upper() == "SUN" and low > 0:
            high = 7
        if low > high:
            low = low % 7 if self.unit is WEEKDAY else low
            raise self.error(f"has a range that wraps around ({self.text})", 0, f"write {self._unwrapped(low, high)}")
        return low, high

    def _unwrapped(self, low: int, high: int) -> str:
        """Return the right spelling of a wrapped range, with names if it was written with names."""
        unit = self.unit
        spell = str if any(character.isdigit() for character in self.text) else unit.name_of
        if low <= high:
            return f"{spell(low)}-{spell(high)}"
        parts = [(low, unit.high), (unit.low, high)]
        return ",".join(spell(a) if a == b else f"{spell(a)}-{spell(b)}" for a, b in parts)

    def _step(self, text: str, offset: int) -> int:
        if not (text.isascii() and text.isdigit()):
            raise self.error(f"has a step that is not a number ({self.text})", offset, "write a step such as */15")
        if not (step := text.lstrip("0")):
            raise self.error(f"has a step of zero ({self.text})", offset, "write */1 or *")
        return int(step) if len(step) < 3 else self.unit.high + 1

    def _number(self, text: str, offset: int) -> int:
        unit = self.unit
        if text.isascii() and text.isdigit():
            digits = text.lstrip("0") or "0"
            number = int(digits) if len(digits) < 3 else unit.high + 2
            highest = 7 if unit is WEEKDAY and self.dialect.sunday_is_seven else unit.high
            if not unit.low <= number <= highest:
                plain = f"write a number from {unit.low} to {highest}"
                fix = "write 0 for Sunday" if unit is WEEKDAY and number == 7 else plain
                raise self.error(f"value {text[:20]} is outside {unit.low}-{highest}", offset, fix)
            return number
        if text.isascii() and (named := unit.names.get(text.upper())) is not None:
            if not self.dialect.names:
                raise self.error(f"uses a name ({text}), {self.dialect.refusal}", offset, f"write {named}")
            return named
        raise self._not_a_number(text, offset)

    def _not_a_number(self, text: str, offset: int) -> FieldParseError:
        unit = self.unit
        if not text:
            return self.error("has an empty list element", offset, "remove the extra comma")
        if token := re.search(_QUARTZ_TOKEN, text, re.ASCII | re.IGNORECASE):
            mark = token[0][0].upper()
            return self.error(f"uses {mark}, a Quartz token ({text[:20]})", offset + token.start(), _QUARTZ[mark])
        if "*" in text:
            return self.error(f"has * beside other characters ({text[:20]})", offset + text.index("*"), "write * alone")
        if text.isalpha() and text.isascii():
            near, names = nearest(text, unit.names), [*unit.names]
            known = f"use a name from {names[0]} to {names[-1]}" if names else "write a number"
            known = f"did you mean {near}?" if near else known
            return self.error(f"has an unknown name ({text[:20]})", offset, known)
        wrong = next((i for i, character in enumerate(text) if not ("0" <= character <= "9")), 0)
        return self.error(
            f"has {text[wrong]!r} where a decimal number is expected",
            offset + wrong,
            f"write a number from {unit.low} to {unit.high}",
        )

    def _spelled_out(self) -> str:
        """Return the POSIX spelling of the whole field, if a dialect with steps understands it."""
        try:
            values = parse_field(self.field_text, self.unit, EXTENDED)
        except FieldParseError:
            return ""
        return f"write {','.join(str(value) for value in values)}"

    def error(self, reason: str, offset: int, fix: str) -> FieldParseError:
        """Return the error that points at `offset` of this element."""
        return FieldParseError(
            reason,
            field_name=self.unit.name,
            field_value=self.field_text,
            position=self.position + offset,
            fix=fix,
        )
