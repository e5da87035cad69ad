"""`bench/run.py --compare`: two kept runs side by side, and the exit code. No benchmark is run."""

import json
from pathlib import Path

import pytest
from bench.catalogue import SUITES
from bench.comparison import Comparison, compare
from bench.results import Run
from bench.run import main

PROMISE = "start after the boundary with 1,000 tasks a minute, SQLite, 99th percentile"  # at most 50 ms
JUDGED = "positions judged in a second, all declarative properties, 100 tasks, 10,000,000 positions"


def latency(p99: float, peer: str = "kron-sqlite") -> Run:
    return Run("latency", peer, 0, {"first": 1.0, "p99": p99})


def failed(suite: str, peer: str) -> Run:
    return Run(suite, peer, 0, error="did not finish in 120 s")


def compared(baseline: list[Run], now: list[Run]) -> Comparison:
    return compare(SUITES.values(), baseline, now)


def row_of(comparison: Comparison, promise: str) -> tuple[str, ...]:
    return next(change.row() for change in comparison.promises if change.now.text == promise)


def write(file: Path, runs: list[Run]) -> Path:
    file.write_text("".join(json.dumps(run.as_json()) + "\n" for run in runs), "utf-8")
    return file


def test_a_promise_shows_baseline_now_ratio_and_verdict() -> None:
    comparison = compared([latency(20.0)], [latency(30.0)])

    assert row_of(comparison, PROMISE) == (PROMISE, "at most 50 ms", "20 ms", "30 ms", "1.5x", "met")
    assert comparison.missed == []


def test_a_promise_whose_bound_does_not_hold_is_missed_even_if_the_baseline_missed_it_too() -> None:
    comparison = compared([latency(70.0)], [latency(60.0)])

    assert [change.now.text for change in comparison.missed] == [PROMISE]
    assert row_of(comparison, PROMISE)[-1] == "NOT MET"


def test_a_promise_that_is_met_exactly_is_met() -> None:
    assert compared([latency(20.0)], [latency(50.0)]).missed == []


def test_a_promise_that_was_measured_and_is_not_any_longer_is_missed() -> None:
    comparison = compared([latency(20.0)], [failed("latency", "kron-sqlite")])

    assert [change.now.text for change in comparison.missed] == [PROMISE]
    assert row_of(comparison, PROMISE)[2:] == ("20 ms", "-", "-", "NOT MEASURED")


def test_a_promise_that_only_results_can_word_is_missed_when_its_suite_fails() -> None:
    row = "kron-checker@10000000"
    comparison = compared([Run("verify", row, 0, {"per s": 4e5, "grown": 7e5})], [failed("verify", row)])

    assert row_of(comparison, JUDGED)[2:] == ("400,000/s", "-", "-", "NOT MEASURED")
    assert len(comparison.missed) == 2


def test_a_promise_that_neither_run_measured_is_not_missed() -> None:
    comparison = compared([failed("latency", "kron-sqlite")], [failed("latency", "kron-sqlite")])

    assert row_of(comparison, PROMISE)[-1] == "NOT MEASURED"
    assert comparison.missed == []


def test_a_suite_without_results_of_now_is_left_out() -> None:
    comparison = compared([latency(20.0), Run("daemon-files", "krond", 0, {"check": 1.0})], [latency(20.0)])

    assert [change.now.text for change in comparison.promises] == [PROMISE]


def test_a_suite_that_the_baseline_lacks_is_judged_without_a_ratio() -> None:
    comparison = compared([Run("daemon-files", "krond", 0, {"check": 1.0})], [latency(60.0)])

    assert row_of(comparison, PROMISE)[2:] == ("-", "60 ms", "-", "NOT MET")
    assert comparison.missed


def test_figures_are_those_of_kron_with_medians_of_both_runs() -> None:
    baseline = [latency(10.0), latency(20.0), latency(90.0)]
    comparison = compared(baseline, [latency(10.0), latency(7.0, "apscheduler3")])

    assert comparison.figures == [
        ("latency kron-sqlite", "first", "1", "1", "1x"),
        ("latency kron-sqlite", "p99", "20", "10", "0.5x"),
    ]


@pytest.mark.parametrize(("p99", "code", "verdict"), [(30.0, 0, "met"), (60.0, 1, "NOT MET")])
def test_the_command_compares_kept_results_and_exits_with_1_if_a_promise_is_missed(
    p99: float, code: int, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = write(tmp_path / "baseline.jsonl", [latency(20.0)])
    now = write(tmp_path / "now.jsonl", [latency(p99)])

    assert main(["--suite", "", "--keep", "--out", str(now), "--compare", str(baseline)]) == code

    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"| {PROMISE}")]
    assert [cell.strip() for cell in rows[-1].split("|")][3:-1] == [
        "20 ms",
        f"{p99:.0f} ms",
        f"{p99 / 20:.3g}x",
        verdict,
    ]


def test_a_run_may_be_compared_with_the_file_that_it_overwrites(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = write(tmp_path / "results.jsonl", [latency(20.0)])

    assert main(["--suite", "", "--out", str(results), "--compare", str(results)]) == 0

    assert "0 of 0 promises missed" in capsys.readouterr().out
    assert results.read_text("utf-8") == ""


@pytest.mark.parametrize("text", [None, "", "no JSON\n", '{"unknown": 1}\n'])
def test_a_baseline_that_holds_no_results_is_refused_before_anything_runs(
    text: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = tmp_path / "baseline.jsonl"
    if text is not None:
        baseline.write_text(text, "utf-8")

    with pytest.raises(SystemExit) as caught:
        main(["--suite", "", "--compare", str(baseline)])

    assert caught.value.code == 2
    assert str(baseline) in capsys.readouterr().err
