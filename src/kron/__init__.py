"""Kron: one exact, reproducible second for every period of a cron schedule. The public names; nothing else."""

from importlib import import_module

TYPE_CHECKING = False  # what type checkers take for true; typing itself would be a third of the cost of `import kron`
if TYPE_CHECKING:
    from kron._version import __version__
    from kron.cron.schedule import Schedule
    from kron.decision.decide import decide
    from kron.decision.decision import Decision
    from kron.decision.timing import Timing
    from kron.errors import KronError
    from kron.hosts.library.scheduler import Scheduler, running
    from kron.jobfile.job import Job
    from kron.rules.policy import Policy
    from kron.rules.registration import Registration

_HOMES = {
    "Decision": "kron.decision.decision",
    "Job": "kron.jobfile.job",
    "KronError": "kron.errors",
    "Policy": "kron.rules.policy",
    "Registration": "kron.rules.registration",
    "Schedule": "kron.cron.schedule",
    "Scheduler": "kron.hosts.library.scheduler",
    "Timing": "kron.decision.timing",
    "decide": "kron.decision.decide",
    "running": "kron.hosts.library.scheduler",
}

__all__ = [
    "Decision",
    "Job",
    "KronError",
    "Policy",
    "Registration",
    "Schedule",
    "Scheduler",
    "Timing",
    "__version__",
    "decide",
    "running",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use, so that `import kron` costs next to nothing."""
    if name == "__version__":
        value: object = import_module("kron._version").__version__
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'kron' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
