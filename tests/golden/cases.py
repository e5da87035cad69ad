"""CASES: the definitions, identities and times of the golden decisions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Definition = str | Mapping[str, object]


@dataclass(frozen=True)
class Case:
    """A definition, and how many of its periods from a start on are recorded."""

    title: str
    definition: Definition
    start: str
    identity: str = "golden/job"
    count: int = 1


DISTRIBUTIONS = [
    "uniform",
    *[f"skewEarly{shape}" for shape in ("", ",shape=0.25", ",shape=1", ",shape=3.5", ",shape=40")],
    *[f"skewLate{shape}" for shape in ("", ",shape=0.25", ",shape=1", ",shape=2.5", ",shape=40")],
    "exponential",
    *[f"exponential,lambda={rate}" for rate in ("0.001", "3", "25")],
    *[f"exponential,dir={way}" for way in ("early", "late")],
    *[f"exponential,lambda={rate},dir=late" for rate in ("1e-9", "3", "700")],
    "normal",
    *[f"normal,mu={mu}" for mu in ("nominal", "start", "mid", "end")],
    *[f"normal,sigma={sigma}" for sigma in ("1us", "10s", "1m30s", "5h")],
    *[f"normal,mu={mu},sigma=12m" for mu in ("nominal", "start", "mid", "end")],
]

DURATIONS = [
    *["0s", "1us", "250ms", "500ms", "999.999ms", "1s", "1.5s", "2s", "2.5s", "3s", "59.999999s", "61s"],
    *["1h0.5s", "1h30m", "25h", "168h", "8760h"],
]

BOUNDARIES = [  # zone, schedule and start: days and weeks begin at different instants, also in weeks 53 and 1
    ("America/Los_Angeles", "0 */8 * * *", "2021-01-03T08:00:00Z"),
    ("America/Los_Angeles", "59 23 31 12 *", "2024-12-31T00:00:00Z"),
    ("Asia/Tokyo", "0 */6 * * *", "2021-01-03T09:00:00Z"),
    ("Asia/Tokyo", "30 0 1 1 *", "2015-12-31T15:00:00Z"),
    ("Pacific/Apia", "0 12 * * *", "2011-12-28T00:00:00Z"),
    ("Pacific/Apia", "0 0 * * 1", "2012-12-24T00:00:00Z"),
    ("UTC", "0 0 * * *", "2020-12-27T00:00:00Z"),
    ("UTC", "0 0 29 2 *", "2024-01-01T00:00:00Z"),
]

CLAUSES = {
    "hours": "hours=9-17",
    "dow": "dow=MON-FRI",
    "dom": "dom=1-7,15",
    "months": "months=JAN-MAR,DEC",
    "between": "between=08:30-11:45",
    "date": "date=2026-03-02",
    "dates": "dates=2026-03-01..2026-03-03",
}

COMBINATIONS = [  # each in the 48 hours after its nominal time, so that all of them meet allowed and forbidden seconds
    "@only(hours=0-5;dow=SUN)",
    "@only(dow=SAT-SUN;between=22:00-23:59,00:00-03:59)",
    "@only(dow=5-7) @avoid(hours=12-23)",
    "@only(date=2026-03-02;dates=2026-03-05..2026-03-09)",
    "@only(dates=2026-02-01..2026-02-28;date=2026-03-01;hours=20-23)",
    "@only(months=MAR;dom=1,2;hours=1,3,5,7,9,11)",
    "@only(months=3;dow=MON;between=06:00-06:29)",
    "@avoid(dow=SUN;hours=0-11)",
    "@avoid(between=00:00-05:59;between=12:00-17:59)",
    "@avoid(date=2026-03-01,2026-03-03)",
    "@only(hours=8-20) @avoid(between=11:30-13:30;date=2026-03-01)",
    "@only(dow=MON-FRI;between=08:00-20:00) @avoid(date=2026-12-25)",
    "@only(dow=mon,Tue;months=jan-dec)",
    "@only(between=00:00-00:59)",
    "@only(between=23:50-23:59)",
    "@only(between=12:00-12:00)",
]

NIGHTS = [  # zone, schedule, start (UTC) and a constraint that holds on one side of the change
    ("Europe/Paris", "0 1 * * *", "2026-03-28T12:00:00Z", "@only(hours=3)"),
    ("Europe/Paris", "30 2 * * *", "2026-10-24T12:00:00Z", "@only(between=02:00-02:59)"),
    ("America/New_York", "0 1 * * *", "2026-03-07T18:00:00Z", "@avoid(hours=1)"),
    ("America/New_York", "30 1 * * *", "2026-10-31T18:00:00Z", "@only(hours=1)"),
    ("Australia/Lord_Howe", "30 1 * * *", "2023-03-31T20:00:00Z", "@only(between=01:30-01:59)"),
    ("Australia/Lord_Howe", "45 1 * * *", "2023-09-30T10:00:00Z", "@only(hours=2)"),
    ("Pacific/Apia", "0 22 * * *", "2011-12-29T00:00:00Z", "@avoid(dates=2011-12-30..2011-12-30)"),
    ("Pacific/Apia", "0 23 * * *", "2011-12-29T00:00:00Z", "@only(date=2011-12-31)"),
    ("America/Santiago", "30 23 * * *", "2022-09-10T12:00:00Z", "@only(hours=1)"),
    ("America/Santiago", "30 23 * * *", "2022-04-02T12:00:00Z", "@avoid(dow=SUN)"),
    ("Africa/Monrovia", "0 12 * * *", "1972-01-06T00:00:00Z", "@only(between=12:00-12:10)"),
    ("Africa/Monrovia", "0 0 * * *", "1970-01-01T00:00:00Z", "@avoid(between=00:00-00:14)"),
    ("Europe/Paris", "0 6 * * *", "1900-06-01T00:00:00Z", "@only(hours=6)"),
]

WORDS = [
    "",
    "backup",
    "Grüße, Welt",
    "日本語",
    "🕰️ \u200d",
    "a b\tc",
    "line\nbreak",
    "naïve (draft)",
    'quo"te\\',
    " blanks ",
]
FAR = ["1970-01-01T00:00:00Z", "1999-12-20T00:00:00Z", "2038-01-19T00:00:00Z", "2100-02-28T00:00:00Z"]


def _cases() -> Iterator[Case]:
    yield from _distributions()
    yield from _windows()
    yield from _seeds()
    yield from _constraints()
    yield from _zones()
    yield from _refusals()
    yield from _far_years()


def _distributions() -> Iterator[Case]:
    for text in DISTRIBUTIONS:
        after = f"0 9 * * * @win(after,1h) @dist({text}) @seed(stable,salt=d)"
        yield Case(f"distribution {text} after", after, "2026-03-01T00:00:00Z", count=2)
        around = f"0 9 * * * @tz(Europe/Paris) @win(around,91m) @dist({text})"
        yield Case(f"distribution {text} around", around, "2026-03-01T00:00:00Z")


def _windows() -> Iterator[Case]:
    for mode in ("after", "around"):
        for duration in DURATIONS:
            yield Case(f"window {mode} {duration}", f"15 4 1 * * @win({mode},{duration})", "2026-05-01T00:00:00Z")
        for duration in DURATIONS[::2]:
            plain = {"schedule": "15 4 1 * *", "window": {"mode": mode, "duration": duration}}
            definition = {**plain, "distribution": {"name": "normal", "params": {}}}
            yield Case(f"window {mode} {duration} structured", definition, "2026-05-01T00:00:00Z", "golden/窓")


def _seeds() -> Iterator[Case]:
    for zone, schedule, start in BOUNDARIES:
        for strategy in ("stable", "daily", "weekly"):
            line = f"{schedule} @tz({zone}) @win(after,2h) @seed({strategy},salt=s)"
            yield Case(f"seed {strategy} {zone}", line, start, count=2)
    for word in WORDS:
        definition = {
            "schedule": "@daily",
            "window": {"mode": "around", "duration": "3h"},
            "seed": {"strategy": "weekly", "salt": word},
        }
        yield Case(f"salt {word!r}", definition, "2026-03-01T00:00:00Z", "golden/salt")
        if word and "\n" not in word:
            yield Case(f"identity {word!r}", "@hourly @win(after,59m)", "2026-03-01T00:00:00Z", word)


def _constraints() -> Iterator[Case]:
    for kind, clause in CLAUSES.items():
        for side in ("only", "avoid"):
            line = f"0 22 * * * @tz(Europe/Paris) @win(after,24h) @{side}({clause})"
            yield Case(f"{side} {kind}", line, "2026-03-01T12:00:00Z", count=3)
    for number, combination in enumerate(COMBINATIONS):
        line = f"0 0 * * SUN @win(after,48h) @dist(skewLate) @seed(stable,salt={number}) {combination}"
        yield Case(f"constraints {combination}", line, "2026-02-28T00:00:00Z")
    listed = {
        "schedule": "0 0 * * 1-5",
        "timeZone": "America/New_York",
        "window": {"mode": "around", "duration": "30h"},
        "distribution": {"name": "exponential", "params": {"lambda": 2, "dir": "late"}},
        "seed": {"strategy": "daily", "salt": "prod"},
        "constraints": {"only": ["dow=MON-FRI", "dow=SUN", "between=08:00-20:00"], "avoid": ["date=2026-03-03"]},
    }
    yield Case("constraints as lists", listed, "2026-03-01T00:00:00Z", "ns/report", count=6)


def _zones() -> Iterator[Case]:
    for zone, schedule, start, constraint in NIGHTS:
        for window in ("after,3h", "around,4h"):
            line = f"{schedule} @tz({zone}) @win({window})"
            yield Case(f"night {zone} {window}", line, start, count=2)
            yield Case(f"night {zone} {window} {constraint}", f"{line} {constraint}", start)


def _refusals() -> Iterator[Case]:
    narrow = "0 18 * * * @win(after,1h) @seed(stable,salt=lights) @only(between=18:58-19:00)"
    yield Case("narrow and met at the fifty-fifth attempt", narrow, "2026-03-01T00:00:00Z", "home/lights")
    yield Case("narrow", narrow, "2026-03-02T00:00:00Z", "home/lights", count=8)
    for number in range(3):
        line = f"0 18 * * * @win(after,6h) @seed(daily,salt={number}) @only(between=20:00-20:09)"
        yield Case("one part in thirty-six", line, "2026-03-01T00:00:00Z", "home/shutters", count=3)
    never = "0 18 * * * @win(after,1h) @dist(exponential) @only(hours=3)"
    yield Case("nothing of the window is allowed", never, "2026-03-01T00:00:00Z")
    for mode in ("after", "around"):
        for side in ("only", "avoid"):
            line = f"0 18 * * * @win({mode},0s) @{side}(hours=18)"
            yield Case(f"one second {mode} {side}", line, "2026-03-01T00:00:00Z")
    yield Case("one second on a holiday", "0 18 * * * @avoid(date=2026-12-25)", "2026-12-24T12:00:00Z", count=3)


def _far_years() -> Iterator[Case]:
    for start in FAR:
        yield Case("far", "0 0 1,28 * * @win(around,36h) @dist(skewEarly)", start, "golden/far")
        yield Case("far week", "0 0 * * 0 @win(after,1h) @seed(weekly)", start, "golden/far")


CASES = list(_cases())
