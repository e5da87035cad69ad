"""What time it is, and in which zone this machine lives. Without asyncio, which `kron next` must not load."""

import os
from datetime import UTC, datetime
from pathlib import Path

from kron.cron.zone import load_zone
from kron.errors import InvalidDefinitionError, UnknownTimezoneError
from kron.instant import Instant


def system_now() -> Instant:
    """Return the present, in UTC."""
    return datetime.now(UTC)


_FOLDER = "zoneinfo/"  # what precedes a zone's name in the path of its file, wherever that is installed


def system_timezone(etc: Path = Path("/etc")) -> str:
    """Return the zone's name, or raise if the host does not tell it; a host without any setting is in UTC."""
    if text := os.environ.get("TZ"):
        return _checked(text.removeprefix(":").rpartition(_FOLDER)[2], f"TZ={text}")
    link = etc / "localtime"
    if link.is_symlink():
        target = str(link.readlink())
        return _checked(target.rpartition(_FOLDER)[2], f"{link} -> {target}")
    name = etc / "timezone"
    if name.is_file():
        text = name.read_text("utf-8", errors="replace").strip()
        return _checked(text, f"{name}: {text}")
    if link.exists():
        raise _unknown(str(link), "is a copy of a zone's file and does not tell the zone's name")
    return "UTC"


def _checked(name: str, source: str) -> str:
    try:
        return load_zone(name).name
    except UnknownTimezoneError as error:
        raise _unknown(source, "is not a zone of the IANA database") from error


def _unknown(found: str, reason: str) -> InvalidDefinitionError:
    fix = "set TZ to a name such as Europe/Paris, or give the scheduler a timezone"
    return InvalidDefinitionError(field="timezone", found=found, reason=f"the host's setting {reason}", fix=fix)
