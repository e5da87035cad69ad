"""Periods that were handled while the clock was ahead: they stay handled when it is corrected, and their job waits."""

from kron.instant import Instant, format_instant


def ahead_text(until: Instant) -> str:
    """Return why a job does nothing before an instant."""
    return f"handled while the clock was ahead, until {format_instant(until.replace(microsecond=0))}"
