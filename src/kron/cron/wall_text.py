"""local_text, both_texts, brief_text(zone, at) -> str: an instant on a zone's wall clock, as people read it."""

from kron.cron.zone import Zone
from kron.instant import Instant, format_instant


def local_text(zone: Zone, at: Instant) -> str:
    """Return an instant on the zone's wall clock, with its weekday and offset."""
    local = zone.local(at)
    return f"{local:%a} {local.date().isoformat()} {local:%H:%M:%S} {_offset_text(local.strftime('%z'))}"


def both_texts(zone: Zone, at: Instant) -> str:
    """Return an instant in UTC and, in any other zone, on its wall clock too."""
    text = format_instant(at)
    return text if zone.name == "UTC" else f"{text}  ({local_text(zone, at)})"


def brief_text(zone: Zone, at: Instant) -> str:
    """Return an instant for a sentence: in UTC and, in any other zone, with its weekday and time of day there."""
    text = format_instant(at)
    if zone.name == "UTC":
        return text
    local = zone.local(at)
    return f"{text} ({local:%a %H:%M:%S} {_offset_text(local.strftime('%z'))})"


def _offset_text(offset: str) -> str:
    parts = [offset[:3], offset[3:5], offset[5:7]]
    return ":".join(part for part in parts if part)
