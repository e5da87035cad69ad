"""kron simulate: days of a schedule in milliseconds, the same for the same seed."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kron.instant import format_instant
from tests.cli.kron_runner import kron

MODULE = """
from datetime import timedelta

async def work(): raise AssertionError("a simulation calls no callback")

registrations = [("hourly", "5 * * * *", work, timedelta(minutes=5)), ("often", "0,20,40 * * * *", work, timedelta(0))]
empty = []
windows = [
    ("spread", "0 * * * * @win(after,1h)", work, timedelta(minutes=5)),
    ("around", "*/20 1-9 * * * @tz(Asia/Kathmandu) @win(around,50m) @avoid(hours=3)", work, timedelta(0)),
]
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


def test_verify_reads_the_trace_of_a_simulation() -> None:
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
        ("simulated:unknown", "unknown"),
        ("nowhere:registrations", "nowhere"),
        ("nothing.kron", "No such file"),
    ],
)
def test_an_invalid_argument_gets_one_error(what: str, word: str) -> None:
    answer = kron("simulate", what)

    assert answer.code == 2
    assert word in answer.err


def simulated(folder: Path, jobs: str, *options: str) -> list[dict[str, Any]]:
    """Return the events of some quiet days of a file, which the judge has nothing against."""
    (folder / "jobs.kron").write_text(jobs)
    quiet = [word for kind in ("crashes", "stops", "freezes", "jumps", "faults") for word in (f"--{kind}", "0")]

    answer = kron("simulate", "jobs.kron", *TERMS[:2], *options, *quiet, "--failing", "0", "--slow", "0", "--verify")

    assert answer.code == 0, answer.out
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()[1:]]


def starts(events: list[dict[str, Any]]) -> list[str]:
    """Return when runs began."""
    times = [timedelta(milliseconds=event["t"]) for event in events if event["event"] == "RunStart"]
    return [format_instant(datetime(1970, 1, 1, tzinfo=UTC) + time) for time in times]


WINDOWS = """
0 3 * * * @win(after,2h) @tz(Europe/Paris) @seed(daily,salt=x) name=spread command="x"
"""


def test_a_job_with_a_window_runs_at_the_seconds_that_next_names(folder: Path) -> None:
    events = simulated(folder, WINDOWS, "--days", "5")

    decisions = kron("next", "--file", "jobs.kron", *TERMS[:2], "--count", "5", "--json").json
    assert starts(events) == [decision["chosen_time"] for decision in decisions]


def test_a_trace_with_windows_names_its_dues_and_is_judged_again_by_verify(folder: Path) -> None:
    events = simulated(folder, WINDOWS, "--days", "5")

    assert [event["event"] for event in events].count("Due") == 5
    assert kron("verify", "trace.jsonl").code == 0


def test_a_start_a_second_before_its_chosen_one_is_seen_by_verify(folder: Path) -> None:
    events = simulated(folder, WINDOWS, "--days", "1")
    late = [{**event, "t": event["t"] + 1000} if event["event"] == "Due" else event for event in events]
    lines = [json.dumps(event) for event in sorted(late, key=lambda event: event["t"])]
    path = folder / "trace.jsonl"
    path.write_text("\n".join([path.read_text().splitlines()[0], *lines]))

    answer = kron("verify", "trace.jsonl", "--json")

    assert {each["name"] for each in answer.json["properties"] if each["verdict"] == "violated"} >= {"S1"}


def test_constraints_are_obeyed_also_without_a_window(folder: Path) -> None:
    events = simulated(folder, '0 * * * * @only(hours=6-7) name=only command="x"\n', "--days", "1")

    assert starts(events) == ["2026-03-28T06:00:00Z", "2026-03-28T07:00:00Z"]


def test_a_job_keeps_its_own_zone_in_a_simulation_of_another(folder: Path) -> None:
    jobs = '30 2 * * * name=utc command="x"\n30 2 * * * @tz(Asia/Kathmandu) name=far command="x"\n'

    events = simulated(folder, jobs, "--days", "1", "--timezone", "Europe/Paris")

    assert starts(events) == ["2026-03-28T02:30:00Z", "2026-03-28T20:45:00Z"]


def test_days_in_the_plain_language_need_no_dues_in_the_trace(folder: Path) -> None:
    events = simulated(folder, JOBS, "--days", "1")

    assert "Due" not in {event["event"] for event in events}


def test_days_that_the_plain_language_cannot_say_are_simulated(folder: Path) -> None:
    events = simulated(folder, '0 0 */2 * 0 name=odd command="x"\n', "--days", "9")

    assert starts(events) == ["2026-03-29T00:00:00Z", "2026-04-05T00:00:00Z"]  # Sundays, if their day is odd


def test_windows_survive_accidents_and_the_same_seed_gives_the_same_bytes(folder: Path) -> None:
    terms = (
        *TERMS,
        "--dialect",
        "extended",
        "--crashes",
        "8",
        "--stops",
        "4",
        "--changes",
        "6",
        "--faults",
        "4",
        "--seed",
        "3",
    )
    for name in ("one", "two"):
        assert kron("simulate", "simulated:windows", *terms, "--verify", "--trace", name).code == 0

    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


def test_registrations_may_have_windows_in_the_extended_dialect() -> None:
    assert kron("simulate", "simulated:windows", *TERMS, "--dialect", "extended", "--verify").code == 0
    assert kron("simulate", "simulated:windows", *TERMS).code == 2


def test_a_list_without_tasks_has_a_quiet_life() -> None:
    answer = kron("simulate", "simulated:empty", "--days", "2", "--changes", "5", "--verify")

    assert answer.code == 0
    assert "0 runs" in answer.out


def test_a_trace_that_exists_is_not_overwritten_unless_forced(folder: Path) -> None:
    (folder / "trace.jsonl").write_text("precious")

    refused = kron("simulate", "jobs.kron", "--days", "0.1")
    kept = (folder / "trace.jsonl").read_text()
    forced = kron("simulate", "jobs.kron", "--days", "0.1", "--force")

    assert (refused.code, refused.out, kept) == (2, "", "precious")
    assert "trace.jsonl: exists; say --force" in refused.err
    assert forced.code == 0
    assert "precious" not in (folder / "trace.jsonl").read_text()


def test_a_trace_may_go_to_a_device() -> None:
    assert kron("simulate", "jobs.kron", "--days", "0.1", "--trace", "/dev/null").code == 0


def test_the_shipped_example_is_simulated_without_the_job_that_has_no_times(folder: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "krond.toml"

    answer = kron("simulate", str(example), "--days", "0.1", "--verify")

    assert answer.code == 0
    assert answer.err == "kron: left out, because they have no times: hello\n"
    assert '"hello"' not in (folder / "trace.jsonl").read_text()


def test_a_file_without_any_times_is_wrong_usage(folder: Path) -> None:
    (folder / "jobs.kron").write_text("@reboot name=up command=x\n")

    answer = kron("simulate", "jobs.kron")

    assert answer.code == 2
    assert "jobs.kron: has no job with times to simulate" in answer.err
    assert not (folder / "trace.jsonl").exists()


def test_the_dialect_belongs_to_registrations() -> None:
    answer = kron("simulate", "jobs.kron", "--dialect", "posix")

    assert answer.code == 2
    assert "--dialect belongs to MODULE:NAME" in answer.err
