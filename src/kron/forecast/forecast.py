"""Forecast: the load of a span as numbers and series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from kron.forecast.load import UNITS, Load, StartCounts, epoch_second, from_epoch_second, identities_at, series_unit
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.instant import SECOND, Instant, format_instant


class Collision(NamedTuple):
    """Jobs that start in the same second."""

    at: Instant
    entries: tuple[ForecastJob, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the collision as JSON holds it; `hosts` are those of the identities, where an inventory names them."""
        identities, hosts = [entry.identity for entry in self.entries], [entry.host for entry in self.entries]
        found = {"at": format_instant(self.at), "count": len(identities), "identities": identities}
        return {**found, "hosts": hosts} if any(hosts) else found


@dataclass(frozen=True, slots=True)
class Forecast:
    """The load of so many jobs in a span; how long runs take is known of some of the entries."""

    span: TimeSpan
    jobs: int
    load: Load
    collisions: tuple[Collision, ...]
    known: int = 0

    @property
    def unit(self) -> str:
        """The unit of the series."""
        return series_unit(self.span)

    @property
    def buckets(self) -> range:
        """The numbers of the units of the series, since 1970."""
        unit = UNITS[self.unit]
        return range((epoch_second(self.span.since) + 1) // unit, epoch_second(self.span.until) // unit + 1)

    def series(self, tally: StartCounts) -> list[int]:
        """Return the counts of all units in turn."""
        return [tally.series.get(bucket, 0) for bucket in self.buckets]

    @property
    def mean_active(self) -> float:
        """How many run at a time, on average."""
        return self.load.busy / max(1, (self.span.until - self.span.since) // SECOND)

    def to_dict(self) -> dict[str, object]:
        """Return the forecast as JSON holds it."""
        load, unit = self.load, self.unit
        active = {**load.active.to_dict(1), "mean": round(self.mean_active, 3), "jobs": self.known}
        return {
            "from": format_instant(self.span.since),
            "to": format_instant(self.span.until),
            "jobs": self.jobs,
            "runs": load.chosen.total,
            "unschedulable": load.unschedulable,
            "nominal": load.nominal.peaks_to_dict(),
            "chosen": load.chosen.peaks_to_dict(),
            "concurrency": active if self.known else None,
            "collisions": [collision.to_dict() for collision in self.collisions],
            "series": {
                "unit": unit,
                "start": format_instant(from_epoch_second(self.buckets.start * UNITS[unit])),
                "nominal": self.series(load.nominal),
                "chosen": self.series(load.chosen),
            },
        }


def build_forecast(
    entries: Sequence[ForecastJob], span: TimeSpan, load: Load, *, jobs: int, durations: Mapping[str, timedelta]
) -> Forecast:
    """Return the forecast of a span whose slices were counted, with those who are in the worst collisions."""
    collisions = []
    for _, second in load.worst:
        at = from_epoch_second(second)
        collisions.append(Collision(at, tuple(identities_at(entries, at))))
    known = sum(entry.identity in durations for entry in entries)
    return Forecast(span, jobs, load, tuple(collisions), known)
