"""A declared job as the engine sees it: when, under which policy, how often again, and what the runner gets."""

import json
import zlib
from dataclasses import InitVar, dataclass, field
from datetime import timedelta
from hashlib import sha256

from kron.decision.timing import Timing
from kron.errors import InvalidDefinitionError, KronError
from kron.instant import ZERO, parse_duration
from kron.rules.policy import Policy

_USUAL = (
    b'{"command": {"argv": ["/usr/bin/", ""], "cwd": "", "env": [], "grace": "10s", "group": "", "limits": [], '
    b'"output_limit": 1048576, "stderr": "capture", "stdin": "", "stdout": "capture", "timeout": null, "umask": null, '
    b'"user": ""}, "description": "", "policy": {"concurrency": "forbid", "deadline": "0s", "suspend": false}, '
    b'"retries": 0, "retry_delay": "30s", "schedule": "0 0 * * *", "timing": {"avoid": [], "dialect": "extended", '
    b'"distribution": {"name": "uniform", "params": {}}, "gap": "skip", "only": [], "repeated": "both", '
    b'"schedule": "0 0 * * *", "seed": {"salt": "", "strategy": "stable"}, "timezone": "UTC", '
    b'"window": {"duration": "0s", "mode": "after"}}}'
)
"""What most definitions look like; another one would do, and cost room. Nothing packed outlives the process."""

_RAW = -12  # no header, and as far back as the usual text reaches
_SMALL = 5  # the compressor's own tables: larger ones take longer to clear than to use


def pack(text: str) -> bytes:
    """Return a text in little room; equal texts, and no others, are packed alike."""
    packing = zlib.compressobj(1, zlib.DEFLATED, _RAW, _SMALL, zdict=_USUAL)
    return packing.compress(text.encode()) + packing.flush()


def unpack(packed: bytes) -> str:
    """Return the text."""
    return zlib.decompressobj(_RAW, zdict=_USUAL).decompress(packed).decode()


_KEY = 16  # hex digits that identify a definition


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A declared job. Its definition is a JSON text with all that it says, at least `timing` and `policy`."""

    identity: str
    name: str
    timing: Timing | None  # None: once for each boot of the machine
    policy: Policy
    text: InitVar[str]  # its definition
    payload: object = field(default=None, compare=False)  # what the runner needs to know
    retries: int = 0  # further attempts after a failed one
    retry_delay: timedelta = ZERO
    timeout: timedelta | None = None
    grace: timedelta = ZERO  # between SIGTERM and SIGKILL
    definition_key: str = field(init=False, compare=False)  # of the definition
    packed: bytes = field(init=False, repr=False)  # the definition: the texts would be a tenth of a daemon's memory

    def __post_init__(self, text: str) -> None:
        object.__setattr__(self, "definition_key", definition_key(text))
        object.__setattr__(self, "packed", pack(text))

    @classmethod
    def from_definition(cls, identity: str, name: str, definition: str) -> "JobSpec":
        """Return a job whose definition was recorded, as far as it matters to what still runs of it."""
        timing, policy = parse_definition(identity, definition)
        command = json.loads(definition).get("command")
        said = command if isinstance(command, dict) else {}
        limits = {key: parse_duration(said[key]) for key in ("timeout", "grace") if said.get(key) is not None}
        timeout, grace = limits.get("timeout"), limits.get("grace", ZERO)
        return cls(identity, name, timing, policy, definition, timeout=timeout, grace=grace)

    @property
    def definition(self) -> str:
        """All that it says, as a JSON text."""
        return unpack(self.packed)


def definition_key(definition: str) -> str:
    """Return the key of a definition in records."""
    return sha256(definition.encode()).hexdigest()[:_KEY]


def parse_definition(identity: str, definition: str) -> tuple[Timing | None, Policy]:
    """Return the timing and the policy of a definition that was recorded."""
    fields = json.loads(definition)
    timing = fields["timing"]
    return (
        None if timing is None else Timing.from_dict(timing, identity=identity),
        Policy.from_dict(fields["policy"]),
    )


def parse_timing(identity: str, definition: str) -> Timing:
    """Return the timing of a definition that was recorded; InvalidDefinitionError if it has none."""
    try:
        timing, _ = parse_definition(identity, definition)
    except (KronError, ValueError, TypeError, KeyError) as error:
        raise InvalidDefinitionError(field="timing", found=definition, reason="cannot be read") from error
    if timing is None:
        raise InvalidDefinitionError(field="timing", found=definition, reason="has no periods")
    return timing
