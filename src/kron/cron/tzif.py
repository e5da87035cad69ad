"""read_tzif(data) -> TzifData: a compiled time zone file (RFC 9636) as numbers, and its rule for later years."""

import re
from datetime import date
from itertools import pairwise
from struct import calcsize, error, iter_unpack, unpack_from
from typing import NamedTuple

_HEADER = ">4sc15x6l"
_HEADER_SIZE = calcsize(_HEADER)
_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 86_400
MAGIC = b"TZif"
EARLIEST = -62_135_596_800  # the epoch second of year 1; some files place their first transition before it
_LATEST = 253_402_300_799  # the last of year 9999

_OFFSET = r"([+-]?\d{1,3}(?::\d\d(?::\d\d)?)?)"
_CHANGE = rf",M(\d{{1,2}})\.([1-5])\.([0-6])(?:/{_OFFSET})?"
_FOOTER = rf"(?:<[^>]+>|[A-Za-z]+){_OFFSET}(?:(?:<[^>]+>|[A-Za-z]+){_OFFSET}?{_CHANGE}{_CHANGE})?"


class RuleChange(NamedTuple):
    """`Mm.w.d/time`: the change to `offset` on a weekday of a week of a month, at a time of the clock before it."""

    month: int
    week: int
    weekday: int
    seconds: int
    offset: int

    def in_year(self, year: int, offset_before: int) -> tuple[int, int]:
        """Return the epoch second of the change in that year, and the offset from then on."""
        first = date(year, self.month, 1)
        day = first.toordinal() + (self.weekday - first.isoweekday()) % 7 + 7 * (self.week - 1)
        following = date(year + self.month // 12, self.month % 12 + 1, 1).toordinal()
        if day >= following:  # week 5 is the last one, and a month may have only four
            day -= 7
        return (day - _EPOCH) * _DAY + self.seconds - offset_before, self.offset


class TzifData(NamedTuple):
    """The offset before all transitions, the transitions (epoch second, offset after it), and the rule after them."""

    first_offset: int
    known: tuple[tuple[int, int], ...]
    yearly: tuple[RuleChange, RuleChange] | None

    def check(self) -> None:
        """Raise ValueError if no clock could behave like this."""
        offsets = [self.first_offset, *(offset for _, offset in self.known)]
        offsets += [change.offset for change in self.yearly or ()]
        if any(abs(offset) >= _DAY for offset in offsets):
            raise ValueError("clocks a day or more from UTC")
        seconds = [second for second, _ in self.known]
        if any(later <= earlier for earlier, later in pairwise(seconds)):
            raise ValueError("transitions out of order")
        if seconds and seconds[-1] > _LATEST:
            raise ValueError("a transition after the year 9999")

    def in_year(self, year: int) -> list[tuple[int, int]]:
        """Return the transitions that the rule makes in a year, in order."""
        if self.yearly is None:
            return []
        start, end = self.yearly
        return sorted([start.in_year(year, end.offset), end.in_year(year, start.offset)])


def read_tzif(data: bytes) -> TzifData:
    """Return the transitions in a compiled file, or raise ValueError with what is wrong with it."""
    if not data.startswith(MAGIC):
        raise ValueError("not a TZif file")
    if data[4:5] < b"2":
        raise ValueError("version 1, without 64-bit times")
    try:
        return _read(data)
    except (error, IndexError) as cause:
        raise ValueError("cut off or damaged") from cause


def _read(data: bytes) -> TzifData:
    _, _, isutc, isstd, leaps, times, types, chars = unpack_from(_HEADER, data)
    second = _HEADER_SIZE + times * 5 + types * 6 + chars + leaps * 8 + isstd + isutc
    _, _, isutc, isstd, leaps, times, types, chars = unpack_from(_HEADER, data, second)
    start = second + _HEADER_SIZE
    seconds = unpack_from(f">{times}q", data, start)
    indices = data[start + times * 8 : start + times * 9]
    kinds = data[start + times * 9 : start + times * 9 + types * 6]
    offsets = [offset for offset, _dst, _name in iter_unpack(">lBB", kinds)]
    footer = data[start + times * 9 + types * 6 + chars + leaps * 12 + isstd + isutc :].strip(b"\n").decode("ascii")
    known = tuple((second, offsets[index]) for second, index in zip(seconds, indices, strict=True))
    return TzifData(offsets[0], known, _read_rule(footer))


def _read_rule(footer: str) -> tuple[RuleChange, RuleChange] | None:
    """Return the two yearly changes of a POSIX TZ text, None if its offset is fixed."""
    match = re.fullmatch(_FOOTER, footer, re.ASCII)  # compiled on first use: schedules in UTC never need it
    if match is None:
        raise ValueError(f"unknown rule {footer!r}")
    standard_text, summer_text, *changes = match.groups()
    if changes[0] is None:
        return None
    standard = -_seconds(standard_text)  # POSIX counts west of Greenwich
    summer = -_seconds(summer_text) if summer_text else standard + 3600
    return _change(changes[:4], summer), _change(changes[4:], standard)


def _change(parts: list[str], offset: int) -> RuleChange:
    month, week, weekday, time = parts
    return RuleChange(int(month), int(week), int(weekday), _seconds(time or "2"), offset)


def _seconds(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    hours, minutes, seconds = ([int(part) for part in text.lstrip("+-").split(":")] + [0, 0])[:3]
    return sign * (hours * 3600 + minutes * 60 + seconds)
