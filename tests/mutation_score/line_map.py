"""A pytest plugin that writes which test runs which lines of the package, and how long each test takes.

    python -m pytest -p tests.mutation_score.line_map --line-map FILE tests/rules

Python traces the functions below `src/kron` only. A test that fails is left out: it would find every bug.
"""

import json
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import pytest

import kron

PACKAGE = f"{Path(kron.__file__).parent}/"


class LineMap:
    """The lines that the present test has run, and those of all tests before it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lines: dict[str, set[int]] = {}
        self._tests: dict[str, dict[str, Any]] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Trace a test with its fixtures."""
        self._lines, start = {}, perf_counter()
        sys.settrace(self._call)
        threading.settrace(self._call)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            lines = {file: sorted(lines) for file, lines in self._lines.items()}
            self._tests[item.nodeid] = {"seconds": perf_counter() - start, "lines": lines}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what failed, or was skipped."""
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        passed = {name: test for name, test in self._tests.items() if name not in self._failed}
        self._file.write_text(json.dumps(passed), "utf-8")

    def _call(self, frame: FrameType, _event: str, _argument: object) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            return None
        lines = self._lines.setdefault(file.removeprefix(PACKAGE), set())
        lines.add(frame.f_lineno)

        def line(inner: FrameType, _event: str, _argument: object) -> Any:
            lines.add(inner.f_lineno)
            return line

        return line


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with the name of the file."""
    parser.addoption("--line-map", type=Path, help="where to write which test runs which lines")


def pytest_configure(config: pytest.Config) -> None:
    """Trace, if a file is named."""
    file: Path | None = config.getoption("--line-map")
    if file is not None:
        config.pluginmanager.register(LineMap(file), "line-map")
