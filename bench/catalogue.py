"""SUITES: every suite by name, in the order in which they run."""

from bench.suite import Suite
from bench.suites import cron, decide, imports, sparse

SUITES: dict[str, Suite] = {suite.name: suite for suite in (cron.SUITE, sparse.SUITE, imports.SUITE, decide.SUITE)}
