"""kron simulate: days of a schedule in a moment, the same for the same seed."""

from pathlib import Path

import pytest

from tests.cli.runner import kron

MODULE = """
from datetime import timedelta

async def work(): raise AssertionError("a simulation calls nobody")

registrations = [("hourly", "5 * * * *", work, timedelta(minutes=5)), ("often", "0,20,40 * * * *", work, timedelta(0))]
empty = []
wrong = [("hourly", "99 * * * *", work, timedelta(minutes=5))]
"""
JOBS = """
*/20 * * * * name=often command="x"
30 2 * * MON-FRI name=nightly command="y"
"""
TERMS = ("--from", "2026-03-28T00:00:00Z", "--timezone", "Europe/Paris", "--days", "2")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "simulated.py").write_text(MODULE)
    (tmp_path / "jobs.kron").write_text(JOBS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_list_of_a_module_is_simulated_and_judged(folder: Path) -> None:
    answer = kron("simulate", "simulated:registrations", *TERMS, "--crashes", "5", "--verify")

    assert answer.code == 0
    assert "2 jobs, seed 0" in answer.out
    assert "✔ holds" in answer.out
    assert (folder / "trace.jsonl").read_text().count("UnexpectedShutdown") > 0


def test_its_trace_is_what_verify_reads() -> None:
    kron("simulate", "simulated:registrations", *TERMS, "--trace", "t.jsonl")

    assert kron("verify", "t.jsonl").code == 0


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(folder: Path) -> None:
    for seed, name in (("7", "one"), ("7", "two"), ("8", "three")):
        kron("simulate", "simulated:registrations", *TERMS, "--seed", seed, "--trace", name)

    one, two, three = ((folder / name).read_bytes() for name in ("one", "two", "three"))
    assert one == two
    assert one != three


def test_the_jobs_of_a_file_are_simulated_under_their_names(folder: Path) -> None:
    answer = kron("simulate", "jobs.kron", "--days", "1", "--verify")

    assert answer.code == 0
    assert '"task": "often"' in (folder / "trace.jsonl").read_text()


@pytest.mark.parametrize(
    ("what", "word"),
    [
        ("simulated:wrong", "minute"),
        ("simulated:nobody", "nobody"),
        ("nowhere:registrations", "nowhere"),
        ("nothing.kron", "No such file"),
    ],
)
def test_what_cannot_be_simulated_gets_one_error(what: str, word: str) -> None:
    answer = kron("simulate", what)

    assert answer.code == 2
    assert word in answer.err


def test_a_window_is_refused_by_name(folder: Path) -> None:
    (folder / "jobs.kron").write_text('0 3 * * * @win(after,1h) name=spread command="x"\n')

    answer = kron("simulate", "jobs.kron")

    assert answer.code == 2
    assert "spread" in answer.err


def test_a_list_without_tasks_has_a_quiet_life() -> None:
    answer = kron("simulate", "simulated:empty", "--days", "2", "--changes", "5", "--verify")

    assert answer.code == 0
    assert "0 runs" in answer.out
