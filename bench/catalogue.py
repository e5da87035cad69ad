"""SUITES: every suite by name, in the order in which they run."""

from bench.suite import Suite
from bench.suites import burst, cron, decide, durable, idle, imports, latency, processes, simulate, sparse, verify

SUITES: dict[str, Suite] = {
    module.SUITE.name: module.SUITE
    for module in (cron, sparse, imports, decide, burst, idle, durable, latency, processes, verify, simulate)
}
