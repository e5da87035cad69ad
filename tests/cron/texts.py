"""Cron texts for hypothesis: every form of a dialect, and the blanks between fields."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.cron.reference import read

_BOUNDS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 6)}
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


def _numbers(name: str, *, extended: bool) -> SearchStrategy[tuple[int, str]]:
    """Pairs of a value and a spelling of it."""
    low, high = _BOUNDS[name]
    if extended and name == "weekday":
        high = 7
    plain = st.builds(lambda value, zeros: (value, "0" * zeros + str(value)), st.integers(low, high), st.integers(0, 2))
    names = {"month": list(enumerate(_MONTHS, 1)), "weekday": list(enumerate(_WEEKDAYS))}.get(name, [])
    if not (extended and names):
        return plain
    cases = (str.upper, str.lower, str.title)
    return plain | st.sampled_from([(value, spell(text)) for value, text in names for spell in cases])


def _elements(name: str, *, extended: bool) -> SearchStrategy[str]:
    numbers = _numbers(name, extended=extended)
    ranges = st.tuples(numbers, numbers).map(sorted).map(lambda pair: f"{pair[0][1]}-{pair[1][1]}")
    if not extended:
        return numbers.map(lambda pair: pair[1]) | ranges
    steps = st.integers(1, 70)
    if name == "weekday":
        ranges |= st.sampled_from(["SAT-SUN", "fri-Sun", "MON-SUN"])
    stepped = st.builds(lambda body, step: f"{body}/{step}", ranges | st.just("*"), steps)
    return numbers.map(lambda pair: pair[1]) | ranges | stepped


def fields(name: str, *, extended: bool) -> SearchStrategy[str]:
    """Texts of one field."""
    lists = st.lists(_elements(name, extended=extended), min_size=1, max_size=3).map(",".join)
    return st.just("*") | lists


def expressions(*, extended: bool) -> SearchStrategy[str]:
    """Texts of five fields, tidily separated; a few of them can never match."""
    return st.tuples(*(fields(name, extended=extended) for name in _BOUNDS)).map(" ".join)


def matching(*, extended: bool) -> SearchStrategy[str]:
    """Texts of five fields that name at least one minute."""
    return expressions(extended=extended).filter(lambda text: read(text).names_some_day)


def untidy(texts: SearchStrategy[str]) -> SearchStrategy[str]:
    """The same texts with other blanks before, between and after the fields."""
    blanks = st.sampled_from([" ", "\t", "  ", " \t ", "\t\t\t"])
    return st.builds(
        lambda text, lead, blank, trail: lead + blank.join(text.split(" ")) + trail,
        texts,
        st.just("") | blanks,
        blanks,
        blanks,
    )
