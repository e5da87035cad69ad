"""Ask Kron and other libraries the same OccurrenceQuery, under the same policies."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from croniter import CroniterBadDateError, croniter
from cronsim import CronSim

from kron.cron.schedule import Schedule
from tests.cron.iana import changes, offset, zone
from tests.cron.moments import SECOND, at
from tests.cron.reference import ReferenceSchedule, read

PEERS = ["cronsim", "croniter"]
HOUR = timedelta(hours=1)
ZONES = [
    "Africa/Cairo", "Africa/Casablanca", "America/Havana", "America/New_York", "America/Santiago", "Antarctica/Troll",
    "Asia/Beirut", "Atlantic/Azores", "Australia/Lord_Howe", "Europe/Dublin", "Europe/Paris", "Pacific/Apia",
    "Pacific/Chatham",
]  # fmt: skip


@dataclass(frozen=True)
class OccurrenceQuery:
    """What is the first occurrence of a text after a moment, on the clocks of a zone?"""

    text: str
    moment: datetime
    name: str = "UTC"

    @property
    def fields(self) -> list[str]:
        return self.text.split()

    @property
    def reference(self) -> ReferenceSchedule:
        return read(self.text)

    @property
    def local(self) -> datetime:
        return self.moment.astimezone(UTC if self.name == "UTC" else zone(self.name))

    @property
    def starred_time(self) -> bool:
        """Whether Debian's cron lets the line follow the clock; the others it runs once, whatever the clock does."""
        return self.fields[0].startswith("*") or self.fields[1].startswith("*")

    @property
    def names_every_hour(self) -> bool:
        return len(self.reference.hours) == 24

    def changes_nearby(self) -> Iterator[tuple[datetime, timedelta, timedelta]]:
        """Yield the changes less than 36 hours from the question or its answer, with the offsets before and after."""
        if self.name != "UTC":
            answer = Schedule(self.text, self.name, gap="shift").next(self.moment)
            for change in changes(self.name):
                if min(abs(change - self.moment), abs(change - answer)) < 36 * HOUR:
                    yield change, offset(self.name, change - SECOND), offset(self.name, change)


# --- answers ----------------------------------------------------------------------------------------------------------


def answers(peer: str, question: OccurrenceQuery) -> tuple[datetime, datetime | None]:
    """Return Kron's answer with the policies of the peer, and the peer's; None if it gives up."""
    return {"cronsim": _beside_cronsim, "croniter": _beside_croniter}[peer](question)


def _beside_cronsim(question: OccurrenceQuery) -> tuple[datetime, datetime | None]:
    if question.starred_time:
        schedule = Schedule(question.text, question.name, repeated="both", gap="skip")
    else:
        schedule = Schedule(question.text, question.name, repeated="first", gap="shift")
    found: datetime | None = next(CronSim(question.text, question.local), None)
    return schedule.next(question.moment), found and found.astimezone(UTC)


def _beside_croniter(question: OccurrenceQuery) -> tuple[datetime, datetime | None]:
    # croniter names both passes of a fold, and moves what falls into a gap unless every hour is named.
    gap_is_skipped = question.names_every_hour
    schedule = Schedule(question.text, question.name, repeated="both", gap="skip" if gap_is_skipped else "shift")
    try:
        # What it calls a bug is Debian's rule that a day field beginning with * is ANDed with the other.
        found: datetime = croniter(question.text, question.local, implement_cron_bug=True).get_next(datetime)
    except CroniterBadDateError:
        return schedule.next(question.moment), None
    return schedule.next(question.moment), found.astimezone(UTC)


# --- a corpus ---------------------------------------------------------------------------------------------------------

_BOUNDS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 7)}
_NAMES = {"month": ["JAN", "FEB", "JUN", "DEC"], "weekday": ["SUN", "MON", "FRI", "SAT"]}
_NIGHT = ["0", "1", "2", "3", "23", "0-3", "1,2", "2-4", "0,3", "1-3", "*/2", "22-23"]


def corpus(seed: int, size: int) -> Iterator[OccurrenceQuery]:
    """Yield questions, half of them in UTC and half on the clocks of a zone in the night of a change."""
    chance = Random(seed)
    while size:
        in_zone = size % 2 == 0
        text = " ".join(_field(name, chance, at_night=in_zone) for name in _BOUNDS)
        if not read(text).names_some_day:
            continue
        size -= 1
        if in_zone:
            name = chance.choice(ZONES)
            change = chance.choice([change for change in changes(name) if 2000 < change.year < 2023])
            minutes = chance.choice([chance.randint(-120, 120), chance.randint(-1200, 400)])
            yield OccurrenceQuery(text, change + timedelta(minutes=minutes), name)
        else:
            yield OccurrenceQuery(text, at("2020-01-01 00:00:00Z") + timedelta(seconds=chance.randrange(10**9)))


def _field(name: str, chance: Random, *, at_night: bool) -> str:
    stars = {"minute": 0.2, "hour": 0.3, "day": 0.6, "month": 0.8, "weekday": 0.6}
    if chance.random() < stars[name]:
        return "*"
    if at_night and name == "hour" and chance.random() < 0.7:
        return chance.choice(_NIGHT)
    return ",".join(_element(name, chance) for _ in range(chance.choice([1, 1, 1, 2, 3])))


def _element(name: str, chance: Random) -> str:
    low, high = sorted(chance.randint(*_BOUNDS[name]) for _ in range(2))
    forms = [f"{low}", f"{high}", f"{low}-{high}", f"{low}-{high}/{chance.randint(1, 9)}", f"*/{chance.randint(1, 30)}"]
    return chance.choice([*forms, *_NAMES.get(name, [])[:1], chance.choice(_NAMES.get(name, forms))])
