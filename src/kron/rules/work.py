"""Work: a job as the engine sees it: when, under which policy, how often again, and what the runner gets."""

import json
from dataclasses import InitVar, dataclass, field
from datetime import timedelta
from hashlib import sha256

from kron.decision.timing import Timing
from kron.instant import ZERO, parse_duration
from kron.rules.packed import pack, unpack
from kron.rules.policy import Policy

_KEY = 16  # hex digits that tell definitions apart


@dataclass(frozen=True, slots=True)
class Work:
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
    grace: timedelta = ZERO  # to end by itself, once it is asked to
    key: str = field(init=False, compare=False)  # of the definition
    packed: bytes = field(init=False, repr=False)  # the definition: the texts would be a tenth of a daemon's memory

    def __post_init__(self, text: str) -> None:
        object.__setattr__(self, "key", definition_key(text))
        object.__setattr__(self, "packed", pack(text))

    @classmethod
    def recorded(cls, identity: str, name: str, definition: str) -> "Work":
        """Return a job whose definition was recorded, as far as it matters to what still runs of it."""
        timing, policy = timing_and_policy(identity, definition)
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
    """Return what stands for a definition in records."""
    return sha256(definition.encode()).hexdigest()[:_KEY]


def timing_and_policy(identity: str, definition: str) -> tuple[Timing | None, Policy]:
    """Return the timing and the policy of a definition that was recorded."""
    fields = json.loads(definition)
    timing = fields["timing"]
    return (
        None if timing is None else Timing.from_dict(timing, identity=identity),
        Policy.from_dict(fields["policy"]),
    )
