"""Hypothesis strategies: definitions as people write them, identities, salts and nominal times."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from kron.instant import format_duration

ZONES = (
    *("UTC", "Europe/Paris", "America/New_York", "America/Los_Angeles", "Asia/Tokyo", "Pacific/Apia"),
    *("Australia/Lord_Howe", "America/Santiago", "Asia/Kathmandu", "Africa/Casablanca", "Africa/Monrovia"),
)
NIGHTS = [  # instants near which the clocks of one of the zones change
    datetime.fromisoformat(text)
    for text in (
        *("2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"),
        *("2023-04-01T15:00:00Z", "2023-09-30T15:30:00Z", "2011-12-30T10:00:00Z", "2022-09-11T04:00:00Z"),
        *("2022-04-03T03:00:00Z", "1972-01-07T00:44:30Z", "2021-01-03T15:00:00Z", "2021-01-04T00:00:00Z"),
    )
]
SCHEDULES = ("0 0 * * *", "*/15 * * * *", "30 2 1 * MON", "@hourly", "0 9-17 * * MON-FRI", "5,10 4 */2 JAN,JUL *")

texts = st.text(st.characters(codec="utf-8"), max_size=20)
identities = texts.filter(lambda text: text and "\n" not in text)
whole_seconds = st.integers(0, 4_102_444_800).map(lambda second: datetime.fromtimestamp(second, UTC))
near_nights = st.builds(
    lambda at, shift: at + timedelta(seconds=shift), st.sampled_from(NIGHTS), st.integers(-9999, 9999)
)
nominals = whole_seconds | near_nights


def durations(longest: timedelta = timedelta(days=8), *, shortest: timedelta = timedelta()) -> st.SearchStrategy[str]:
    """Return the texts of durations, most of them whole seconds."""
    exact = st.timedeltas(shortest, longest)
    whole = exact.map(lambda duration: max(timedelta(seconds=duration // timedelta(seconds=1)), shortest))
    return (whole | exact).map(format_duration)


# --- distributions ----------------------------------------------------------------------------------------------------

numbers = st.floats(0.01, 50) | st.integers(1, 20)
distributions = st.one_of(
    st.just({"name": "uniform", "params": {}}),
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["skewEarly", "skewLate"]),
            "params": st.fixed_dictionaries({}, optional={"shape": numbers}),
        }
    ),
    st.fixed_dictionaries(
        {
            "name": st.just("exponential"),
            "params": st.fixed_dictionaries(
                {}, optional={"lambda": numbers, "dir": st.sampled_from(["early", "late"])}
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            "name": st.just("normal"),
            "params": st.fixed_dictionaries(
                {},
                optional={
                    "mu": st.sampled_from(["nominal", "start", "mid", "end"]),
                    "sigma": durations(timedelta(days=20), shortest=timedelta(seconds=1)),
                },
            ),
        }
    ),
)


# --- constraints ------------------------------------------------------------------------------------------------------


def ranges(low: int, high: int, names: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    """Return lists of numbers or names and ranges of them."""

    def spell(number: int, *, named: bool) -> str:
        return names[number - low] if names and named else str(number)

    def element(ends: tuple[int, int], named: tuple[bool, bool]) -> str:
        first, last = sorted(ends)
        text = spell(first, named=named[0])
        return text if first == last else f"{text}-{spell(last, named=named[1])}"

    ends, named = st.integers(low, high), st.booleans()
    elements = st.builds(element, st.tuples(ends, ends), st.tuples(named, named))
    return st.lists(elements, min_size=1, max_size=3).map(",".join)


minutes = st.integers(0, 1439)
spans = st.tuples(minutes, minutes).map(sorted)
days = st.dates(datetime(1970, 1, 1, tzinfo=UTC).date(), datetime(2100, 12, 31, tzinfo=UTC).date()) | st.sampled_from(
    [night.date() for night in NIGHTS]
)
clauses = st.one_of(
    ranges(0, 23).map("hours={}".format),
    ranges(0, 6, ("SUN", "mon", "TUE", "Wed", "THU", "FRI", "sat")).map("dow={}".format),
    ranges(1, 31).map("dom={}".format),
    ranges(1, 12, ("JAN", "feb", "MAR", "APR", "MAY", "Jun", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")).map(
        "months={}".format
    ),
    spans.map(lambda span: "between=" + "-".join(f"{minute // 60:02}:{minute % 60:02}" for minute in span)),
    days.map("date={}".format),
    st.tuples(days, days).map(lambda pair: f"dates={min(pair)}..{max(pair)}"),
)
sides = st.fixed_dictionaries(
    {}, optional={"only": st.lists(clauses, max_size=3), "avoid": st.lists(clauses, max_size=3)}
)


# --- whole definitions ------------------------------------------------------------------------------------------------


def definitions(longest: timedelta = timedelta(days=8)) -> st.SearchStrategy[dict[str, object]]:
    """Return structured definitions in the form of a KronJob's spec."""
    return st.fixed_dictionaries(
        {"schedule": st.sampled_from(SCHEDULES)},
        optional={
            "timeZone": st.sampled_from(ZONES),
            "gap": st.sampled_from(["skip", "shift"]),
            "repeated": st.sampled_from(["both", "first"]),
            "window": st.fixed_dictionaries(
                {}, optional={"mode": st.sampled_from(["after", "around"]), "duration": durations(longest)}
            ),
            "distribution": distributions,
            "seed": st.fixed_dictionaries(
                {}, optional={"strategy": st.sampled_from(["stable", "daily", "weekly"]), "salt": texts}
            ),
            "constraints": sides,
        },
    )
