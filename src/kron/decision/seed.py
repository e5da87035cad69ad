"""Seed: from a job and a period to 256 bits that anybody can compute again."""

from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from kron.cron.zone import Zone
from kron.instant import Instant, format_instant


class SeedStrategy(Enum):
    """What changes the seed: every period, every day or every ISO week of the job's zone."""

    STABLE = "stable"
    DAILY = "daily"
    WEEKLY = "weekly"


@dataclass(frozen=True, slots=True)
class Seed:
    """A strategy and a salt."""

    strategy: SeedStrategy = SeedStrategy.STABLE
    salt: str = ""


period_id = format_instant  # SPEC: Period ID. The nominal time in RFC 3339, UTC, is the canonical name of its period.


def period_key(strategy: SeedStrategy, nominal: Instant, zone: Zone) -> str:
    """Return the part of a period's name that the strategy lets into the seed."""  # SPEC: Seed strategies
    if strategy is SeedStrategy.STABLE:
        return period_id(nominal)
    day = (nominal + zone.offset(nominal)).date()
    if strategy is SeedStrategy.DAILY:
        return day.isoformat()
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def seed_hash(identity: str, key: str, salt: str) -> str:
    """Return the SHA-256 of identity, period key and salt, as lower-case hex."""  # SPEC: Seed hash
    return sha256(f"{identity}\n{key}\n{salt}".encode()).hexdigest()
