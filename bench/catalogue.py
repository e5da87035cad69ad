"""SUITES: every suite by name, in the order in which they run."""

from bench.suite import Suite
from bench.suites import (
    burst,
    cron,
    daemon_burst,
    daemon_files,
    daemon_lateness,
    daemon_recovery,
    decide,
    durable,
    forecast,
    idle,
    imports,
    latency,
    operator,
    operator_beside,
    operator_fairness,
    operator_lateness,
    page,
    processes,
    simulate,
    sparse,
    verify,
)

_IN_PROCESS = (cron, sparse, imports, decide, burst, idle, durable, latency)
_DAEMON = (processes, daemon_burst, daemon_files, daemon_recovery, daemon_lateness, page)
_CLUSTER = (operator, operator_lateness, operator_beside, operator_fairness)
_JUDGE = (verify, simulate)
_FORESEE = (forecast,)

_ALL = (*_IN_PROCESS, *_DAEMON, *_CLUSTER, *_JUDGE, *_FORESEE)
SUITES: dict[str, Suite] = {module.SUITE.name: module.SUITE for module in _ALL}
