"""kron run --trace --verify: a process is recorded and judged, and the next process continues the trace."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron, kron_process
from tests.cli.test_run import read_until, running

MODULE = """
from datetime import timedelta

async def quick():
    print("quick began", flush=True)

plain = [("quick", "* * * * *", quick, timedelta(0))]
windows = [
    ("quick", "* * * * * @tz(Asia/Kathmandu)", quick, timedelta(0)),
    ("late", "@daily @win(after,3h)", quick, timedelta(0)),
]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "traced.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def live(*arguments: str, until: str = "quick began") -> str:
    """Run until something has happened and the process was asked to stop; return its last output."""
    options = ("--timezone", "UTC", "--ledger", "ledger.db", "--trace", "trace.jsonl", "--verify", "--json")
    with running(*arguments, *options) as process:
        read_until(process, until)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate()
    assert process.returncode == 0, err
    return err


def test_a_plain_list_is_recorded_and_judged() -> None:
    assert "holds: " in live("traced:plain")

    assert kron("verify", "trace.jsonl").code == 0


def test_a_list_with_windows_names_its_dues_through_one_life_after_the_other(folder: Path) -> None:
    assert "holds: " in live("traced:windows", "--dialect", "extended")
    assert "holds: " in live("traced:windows", "--dialect", "extended", until="TaskPreserved")

    header, *lines = map(json.loads, (folder / "trace.jsonl").read_text().splitlines())
    assert header["dues"] == "named"
    assert {"quick", "late"} >= set(lines[1]["lastDue"]) >= {"quick"}
    answer = kron("verify", "trace.jsonl", "--recompute", "--json")
    assert (answer.code, answer.json["recompute"]["different"]) == (0, 0)


@pytest.mark.parametrize("left", [2, 3], ids=["neither start nor end", "a start alone"])
def test_lines_that_a_crash_kept_out_of_the_trace_are_added_from_the_ledger(folder: Path, left: int) -> None:
    live("traced:plain")
    trace = folder / "trace.jsonl"
    whole = trace.read_text().splitlines(keepends=True)
    trace.write_text("".join(whole[: 1 + left]))

    assert "violated" not in live("traced:plain", until="TaskPreserved")

    events = [json.loads(line)["event"] for line in trace.read_text().splitlines()[1:6]]
    assert events == ["InitStart", "InitSuccess", "RunStart", "RunSuccess", "UnexpectedShutdown"]


def test_a_plain_trace_is_not_continued_by_lists_whose_dues_have_to_be_named() -> None:
    live("traced:plain")

    answer = kron_process(
        "run", "traced:windows", "--dialect", "extended", "--timezone", "UTC", "--trace", "trace.jsonl"
    )

    assert answer.code == 2
    assert "header" in answer.err


def test_an_unknown_contract_gets_one_clear_error() -> None:
    answer = kron_process("run", "traced:plain", "--contract", "best", "--verify")

    assert answer.code == 2
    assert "contract" in answer.err
    assert "Traceback" not in answer.err
