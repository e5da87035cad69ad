"""Load any cron library behind one interface, by its public names only.

A timed verb does nothing that the library does not make its users do; what only the checks need is in `instant`.
"""

from datetime import UTC, datetime, tzinfo
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

_ANCHOR = datetime(2024, 1, 1, 0, 0, 1, tzinfo=UTC)


class Peer:
    """A library, set up for one zone. `Any` is the library's own type, which no benchmark inspects."""

    distribution: ClassVar[str]
    home: ClassVar[str]  # the module, a colon, and the name in it from which everything starts
    native: ClassVar[bool] = False  # its evaluation is compiled
    rebases: ClassVar[bool] = True  # a parsed object can be asked from any start; if not, each find parses again
    knows_zones: ClassVar[bool] = True

    def __init__(self, zone: str) -> None:
        self.zone_name = zone
        self.zone: tzinfo = UTC if zone == "UTC" else ZoneInfo(zone)
        self.anchor = _ANCHOR.astimezone(self.zone)
        module, _, name = self.home.partition(":")
        self.api: Any = getattr(import_module(module), name)

    def version(self) -> str:
        """Return the version that is installed."""
        return version(self.distribution)

    def start(self, at: datetime) -> datetime:
        """Return an instant as this library likes its starts."""
        return at.astimezone(self.zone)

    def parse(self, text: str) -> Any:
        """Return the object that is ready to be asked."""
        raise NotImplementedError

    def finder(self, parsed: Any) -> Any:
        """Return the function from a start to the next occurrence."""
        raise NotImplementedError

    def back_finder(self, parsed: Any) -> Any:  # noqa: ARG002  # most libraries override it
        """Return the function from a start to the occurrence before it, None if the library has none."""
        return None

    def walk(self, parsed: Any, start: datetime, count: int) -> None:
        """Visit `count` successive occurrences in the library's cheapest way."""
        find = self.finder(parsed)
        for _ in range(count):
            start = find(start)

    def instant(self, answer: Any) -> datetime | None:
        """Return an answer as an instant."""
        return None if answer is None else answer.astimezone(UTC)


class Kron(Peer):
    """The zone belongs to the schedule, and starts are instants."""

    distribution, home = "kron-scheduler", "kron:Schedule"

    def start(self, at: datetime) -> datetime:
        return at.astimezone(UTC)

    def parse(self, text: str) -> Any:
        return self.api(text, timezone=self.zone_name, dialect="posix")

    def finder(self, parsed: Any) -> Any:
        return parsed.next

    def back_finder(self, parsed: Any) -> Any:
        return parsed.previous


class Croniter(Peer):
    """The zone belongs to the start."""

    distribution, home = "croniter", "croniter:croniter"

    def parse(self, text: str) -> Any:
        return self.api(text, self.anchor)

    def finder(self, parsed: Any) -> Any:
        return partial(parsed.get_next, datetime)

    def back_finder(self, parsed: Any) -> Any:
        return partial(parsed.get_prev, datetime)

    def walk(self, parsed: Any, start: datetime, count: int) -> None:
        step = partial(parsed.get_next, datetime)
        step(start)
        for _ in range(count - 1):
            step()


class Croniters(Croniter):
    """croniter with parts of it compiled."""

    distribution, home = "croniters", "croniters:croniter"
    native = True


class CroniterRs(Croniter):
    """croniter rewritten in Rust; it answers with naive wall times, which it is not charged for here."""

    distribution, home = "croniter-rs", "croniter_rs:croniter"
    native = True

    def instant(self, answer: Any) -> datetime | None:
        return super().instant(answer if answer is None or answer.tzinfo else answer.replace(tzinfo=self.zone))


class CronSim(Peer):
    """An iterator from one start: another start is another object, parsed again."""

    distribution, home = "cronsim", "cronsim:CronSim"
    rebases = False

    def parse(self, text: str) -> Any:
        self.api(text, self.anchor)
        return text

    def finder(self, parsed: Any) -> Any:
        cronsim = self.api
        return lambda start: next(cronsim(parsed, start))

    def back_finder(self, parsed: Any) -> Any:
        cronsim = self.api
        return lambda start: next(cronsim(parsed, start, reverse=True))

    def walk(self, parsed: Any, start: datetime, count: int) -> None:
        occurrences = self.api(parsed, start)
        for _ in range(count):
            next(occurrences)


class APScheduler3(Peer):
    """The cron trigger, apart from its scheduler."""

    distribution, home = "apscheduler", "apscheduler.triggers.cron:CronTrigger"

    def parse(self, text: str) -> Any:
        return self.api.from_crontab(text, timezone=self.zone)

    def finder(self, parsed: Any) -> Any:
        return partial(parsed.get_next_fire_time, None)

    def walk(self, parsed: Any, start: datetime, count: int) -> None:
        find, last = parsed.get_next_fire_time, None
        for _ in range(count):
            last = start = find(last, start)


class APScheduler4(Peer):
    """The trigger remembers where it is: another start is another trigger, parsed again."""

    distribution, home = "apscheduler", "apscheduler.triggers.cron:CronTrigger"
    rebases = False

    def parse(self, text: str) -> Any:
        self.api.from_crontab(text, start_time=self.anchor, timezone=self.zone)
        return text

    def finder(self, parsed: Any) -> Any:
        make, zone = self.api.from_crontab, self.zone
        return lambda start: make(parsed, start_time=start, timezone=zone).next()

    def walk(self, parsed: Any, start: datetime, count: int) -> None:
        trigger = self.api.from_crontab(parsed, start_time=start, timezone=self.zone)
        for _ in range(count):
            trigger.next()


class Celery(Peer):
    """The crontab of celery's beat; its zone is that of the application."""

    distribution, home = "celery", "celery.schedules:crontab"

    def __init__(self, zone: str) -> None:
        super().__init__(zone)
        self._app = import_module("celery").Celery("bench", broker="memory://")
        self._app.conf.timezone = zone

    def parse(self, text: str) -> Any:
        minute, hour, day, month, weekday = text.split()
        return self.api(minute, hour, weekday, day, month, app=self._app)

    def finder(self, parsed: Any) -> Any:
        remaining = parsed.remaining_delta

        def find(start: datetime) -> Any:
            last, delta, _now = remaining(start)
            return last + delta

        return find


class Crontab(Peer):
    """The parser named crontab."""

    distribution, home = "crontab", "crontab:CronTab"

    def parse(self, text: str) -> Any:
        return self.api(text)

    def finder(self, parsed: Any) -> Any:
        return partial(parsed.next, default_utc=True, return_datetime=True)

    def back_finder(self, parsed: Any) -> Any:
        return partial(parsed.previous, default_utc=True, return_datetime=True)


class CronConverter(Peer):
    """A parsed expression makes a seeker for each start."""

    distribution, home = "cron-converter", "cron_converter:Cron"

    def parse(self, text: str) -> Any:
        return self.api(text)

    def finder(self, parsed: Any) -> Any:
        return lambda start: parsed.schedule(start).next()

    def back_finder(self, parsed: Any) -> Any:
        return lambda start: parsed.schedule(start).prev()

    def walk(self, parsed: Any, start: datetime, count: int) -> None:
        seeker = parsed.schedule(start)
        for _ in range(count):
            seeker.next()


class Hron(Peer):
    """Schedules as sentences; cron is translated, or refused if no sentence says it. A zone is part of the sentence."""

    distribution, home = "hron", "hron:Schedule"

    def parse(self, text: str) -> Any:
        schedule = self.api.from_cron(text)
        return schedule if self.zone is UTC else self.api.parse(f"{schedule} in {self.zone_name}")

    def finder(self, parsed: Any) -> Any:
        return parsed.next_from

    def back_finder(self, parsed: Any) -> Any:
        return parsed.previous_from

    def walk(self, parsed: Any, start: datetime, count: int) -> None:
        parsed.next_n_from(start, count)


class CronExpr(Peer):
    """One C function from text and start to the occurrence, in UTC only: `parse` must find one too."""

    distribution, home = "cronexpr", "cronexpr:next_fire"
    native, rebases, knows_zones = True, False, False

    def parse(self, text: str) -> Any:
        self.api(text, _ANCHOR)
        return text

    def finder(self, parsed: Any) -> Any:
        return partial(self.api, parsed)

    def back_finder(self, parsed: Any) -> Any:
        return partial(import_module("cronexpr").prev_fire, parsed)


PEERS: dict[str, type[Peer]] = {
    "kron": Kron,
    "croniter": Croniter,
    "cronsim": CronSim,
    "apscheduler3": APScheduler3,
    "apscheduler4": APScheduler4,
    "celery": Celery,
    "crontab": Crontab,
    "cron-converter": CronConverter,
    "hron": Hron,
    "croniters": Croniters,
    "croniter-rs": CroniterRs,
    "cronexpr": CronExpr,
}


def load_peer(name: str, zone: str = "UTC") -> Peer:
    """Return the peer, or raise what its import raises."""
    return PEERS[name](zone)
