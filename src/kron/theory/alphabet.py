"""The alphabet: the events of a trace, their owners, and their atoms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Owner(Enum):
    """The party that causes an event, and is to blame for it."""

    SCHEDULER = "scheduler"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class TraceEventKind:
    """An event of the trace: its atom, its owner, and whether it is an action, which costs work."""

    atom: str
    owner: Owner
    is_action: bool = True
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


_S, _E = Owner.SCHEDULER, Owner.ENVIRONMENT
_RUN = ("period", "attempt")
CONCURRENCY = ("allow", "forbid", "replace")  # of a Decision: whether runs of its job may overlap

EVENTS: Mapping[str, TraceEventKind] = MappingProxyType(
    {
        "InitStart": TraceEventKind("IS", _E, required=("call", "registrations"), optional=("valid",)),
        "InitSuccess": TraceEventKind("IEs", _S, required=("call",), optional=("remembered", "lastDue")),
        "InitFailure": TraceEventKind("IEf", _S, required=("call",), optional=("error", "cause")),
        "StopStart": TraceEventKind("SS", _E, required=("call",)),
        "StopEnd": TraceEventKind("SE", _S, required=("call",)),
        "RunStart": TraceEventKind("RS", _S, required=("task",), optional=(*_RUN, "retries")),
        "RunSuccess": TraceEventKind("REs", _E, required=("task",), optional=_RUN),
        "RunFailure": TraceEventKind("REf", _E, required=("task",), optional=(*_RUN, "error", "ended")),
        "UnexpectedShutdown": TraceEventKind("Crash", _E, is_action=False),
        "Due": TraceEventKind("Due", _E, is_action=False, required=("task",)),
        "RetryDue": TraceEventKind("RetryDue", _E, is_action=False, required=("task",)),
        "Freeze": TraceEventKind("Freeze", _E, is_action=False),
        "Thaw": TraceEventKind("Thaw", _E, is_action=False),
        "ClockSet": TraceEventKind("ClockSet", _E, is_action=False, optional=("lastDue",)),
        "End": TraceEventKind("End", _E, is_action=False, required=("closed",)),
        # of hosts that choose a second for each period; what is said of a period costs no work beside what is done
        "Decision": TraceEventKind(
            "Decision",
            _S,
            is_action=False,
            required=("identity", "period", "windowStart", "windowEnd", "chosen", "seedHash", "definition"),
            optional=("deadlineMs", "concurrency", "retries"),
        ),
        "Outcome": TraceEventKind(
            "Outcome",
            _S,
            is_action=False,
            required=("identity", "period", "outcome"),
            optional=("reason", "acceptedMs", "slackMs"),
        ),
        "Suspended": TraceEventKind("Suspended", _E, required=("identity",)),
        "Resumed": TraceEventKind("Resumed", _E, required=("identity",)),
    }
)

LETTERS = {name: frozenset({kind.atom}) for name, kind in EVENTS.items()}  # what is seen of an event and no more


def world_letter(events: Sequence[str]) -> frozenset[str]:
    """Return what the world sees of a set, whatever its events are: actions, and that something falls due."""
    actions = sum(EVENTS[event].is_action for event in events)
    seen = {EVENTS[event].atom for event in events if event in ("Due", "RetryDue")}
    return frozenset([*seen, *["Action"] * (actions > 0), *["TwoActions"] * (actions > 1)])
