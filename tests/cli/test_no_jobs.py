"""Files without jobs: a check must not pass because it checked nothing."""

from pathlib import Path

import pytest

from tests.cli.kron_runner import CommandResult, kron
from tests.hosts.krond.command_runner import krond

DAY = ("--from", "2026-03-01T00:00:00Z", "--to", "1d")
JOB = '[jobs.x]\nschedule = "0 9 * * *"\ncommand = "/bin/true"\ndeadline = "10m"\n'
ERROR = "error: jobs: no jobs in {}; add a job, or say --allow-empty"


@pytest.fixture
def empty(tmp_path: Path) -> str:
    """A directory whose only job file has no job."""
    (tmp_path / "hosts" / "web1").mkdir(parents=True)
    (tmp_path / "hosts" / "web1" / "krond.toml").write_text("[krond]\nmax_active = 3\n")
    (tmp_path / "hosts" / "web1" / "notes.txt").write_text("nothing")
    return str(tmp_path / "hosts")


def ask(command: str, path: str, *options: str) -> CommandResult:
    words = {
        "check": ("check", "--config", path),
        "lint": ("lint", path),
        "forecast": ("forecast", path, *DAY),
        "plan": ("plan", path, path, *DAY),
        "tune": ("tune", path, "--budget", "1", *DAY),
        "feed": ("feed", path, *DAY),
    }[command]
    return krond(*words, *options) if command == "check" else kron(*words, *options)


CODES = {"check": 1, "lint": 1, "forecast": 2, "plan": 2, "tune": 2, "feed": 2}


@pytest.mark.parametrize(("command", "code"), CODES.items())
def test_no_jobs_is_an_error_that_names_the_path(command: str, code: int, empty: str) -> None:
    answer = ask(command, empty)

    assert (answer.code, answer.out) == (code, "")
    assert answer.err == f"{empty}:1: {ERROR.format(empty)}\n"


@pytest.mark.parametrize("command", CODES)
def test_no_jobs_is_allowed_on_demand(command: str, empty: str) -> None:
    answer = ask(command, empty, "--allow-empty")

    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize("command", CODES)
def test_one_nested_job_is_enough(command: str, empty: str) -> None:
    Path(empty, "web1", "jobs.toml").write_text(JOB)

    answer = ask(command, empty)

    assert (answer.code, answer.err) == (0, "")


def test_a_plan_names_the_side_without_jobs(empty: str, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "jobs.toml").write_text(JOB)

    before, after = kron("plan", empty, str(full), *DAY), kron("plan", str(full), empty, *DAY)

    assert (before.code, after.code) == (2, 2)
    assert before.err == after.err == f"{empty}:1: {ERROR.format(empty)}\n"


def test_all_paths_that_were_looked_at_are_named(empty: str, tmp_path: Path) -> None:
    (tmp_path / "bare.kron").write_text("# nothing\n")

    answer = kron("lint", empty, str(tmp_path / "bare.kron"))

    assert answer.err.strip().endswith(ERROR.format(f"{empty}, {tmp_path}/bare.kron"))


def test_a_file_with_errors_is_not_said_to_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "jobs.toml"
    path.write_text(JOB.replace("0 9", "61 9"))

    for command in CODES:
        assert "no jobs" not in ask(command, str(path)).err


def test_no_jobs_is_a_finding_of_lint_and_check(empty: str) -> None:
    for command in ("lint", "check"):
        (finding,) = ask(command, empty, "--json").json
        assert (finding["level"], finding["field"], finding["file"]) == ("error", "jobs", empty)


def test_lines_need_no_files() -> None:
    assert kron("lint", "0 9 * * * @policy(deadline=10m)").code == 0


def test_jobs_that_never_run_by_themselves_are_jobs(tmp_path: Path) -> None:
    path = tmp_path / "jobs.kron"
    path.write_text("@reboot name=a command=true\n")

    assert kron("forecast", str(path), *DAY).code == 0


def test_an_inventory_whose_files_have_no_jobs_is_named(empty: str, tmp_path: Path) -> None:
    path = tmp_path / "hosts.txt"
    path.write_text(f"web1 {empty}\n")

    answer = kron("forecast", *DAY, "--inventory", str(path))

    assert (answer.code, answer.err) == (2, f"{path}:1: {ERROR.format(path)}\n")


def test_a_list_of_registrations_without_any_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nothing_registered.py").write_text("registrations = []\n")
    monkeypatch.chdir(tmp_path)

    answer = kron("feed", "nothing_registered:registrations", *DAY)

    assert answer.code == 2
    assert "no jobs in nothing_registered:registrations" in answer.err
