"""kron plan: the effect of a change of files, as a report and as a gate."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron
from tests.hosts.krond.krond_process import Krond

OLD = "0 3 * * * @win(after,2h) name=backup command=true\n0 6 * * * name=check command=true\n"
SALTED = OLD.replace("2h)", "2h) @seed(stable,salt=x)")
DAY = ("--from", "2026-03-01T00:00:00Z", "--to", "2026-03-02T00:00:00Z")
FIELDS = ["appear", "vanish", "move", "identity_changed", "salt_changed", "dst_nights", "peak"]


def files(folder: Path, old: str, new: str) -> tuple[str, str]:
    """Return the paths of two files of different names."""
    paths = folder / "old.kron", folder / "new.kron"
    for path, text in zip(paths, (old, new), strict=True):
        path.write_text(text)
    return str(paths[0]), str(paths[1])


def test_the_new_file_is_read_at_the_path_of_the_old_one(tmp_path: Path) -> None:
    plan = kron("plan", *files(tmp_path, OLD, OLD), *DAY, "--json").json

    assert list(plan) == FIELDS
    assert [plan[field] for field in FIELDS[:6]] == [[]] * 6
    assert plan["peak"]["old"] == plan["peak"]["new"]


def test_moved_runs_have_their_old_and_their_new_second(tmp_path: Path) -> None:
    old, new = files(tmp_path, OLD, SALTED)
    plan = kron("plan", old, new, *DAY, "--json").json
    seconds = [
        kron("feed", file, *DAY, "--at-path", old, "--job", "backup").json[0]["chosen_time"] for file in (old, new)
    ]

    assert plan["move"] == [
        {"identity": f"{old}:backup", "period_id": "2026-03-01T03:00:00Z", "from": seconds[0], "to": seconds[1]}
    ]
    assert plan["salt_changed"] == [{"identity": f"{old}:backup", "name": "backup", "old": "", "new": "x"}]


def test_runs_that_appear_and_vanish_are_rows_of_the_feed(tmp_path: Path) -> None:
    old, new = files(tmp_path, OLD, OLD.replace("0 6", "0 7"))
    plan = kron("plan", old, new, *DAY, "--json").json

    assert plan["vanish"] == kron("feed", old, *DAY, "--job", "check").json
    assert plan["appear"] == kron("feed", new, *DAY, "--job", "check", "--at-path", old).json


def test_a_suspended_job_loses_its_runs(tmp_path: Path) -> None:
    new = OLD.replace("0 6 * * *", "0 6 * * * @policy(suspend=true)")

    plan = kron("plan", *files(tmp_path, OLD, new), *DAY, "--json").json

    assert [row["name"] for row in plan["vanish"]] == ["check"]


def test_directories_are_compared_file_by_file(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name / "cron.d").mkdir(parents=True)
        (tmp_path / name / "jobs.kron").write_text(OLD)
        (tmp_path / name / "cron.d" / "tidy").write_text("CRON_TZ=UTC\n0 5 * * * @win(after,1h) root tidy\n")

    plan = kron("plan", str(tmp_path / "old"), str(tmp_path / "new"), *DAY, "--json").json

    assert [plan[field] for field in FIELDS[:6]] == [[]] * 6


def test_a_name_without_a_known_form_has_that_of_the_old_file(tmp_path: Path) -> None:
    old = files(tmp_path, OLD, "")[0]
    (tmp_path / "candidate").write_text(OLD)

    assert kron("plan", old, str(tmp_path / "candidate"), *DAY).code == 0


@pytest.mark.parametrize(
    ("gate", "code"),
    [(("--max-moved", "0"), 1), (("--max-moved", "1"), 0), (("--max-peak", "0"), 1), (("--max-peak", "1"), 0)],
)
def test_the_exit_code_is_a_gate(tmp_path: Path, gate: tuple[str, str], code: int) -> None:
    answer = kron("plan", *files(tmp_path, OLD, SALTED), *DAY, *gate, "--json")

    assert answer.code == code
    assert ("more than 0" in answer.err) == bool(code)
    assert list(answer.json) == FIELDS


def test_an_identity_that_changed_by_accident_does_not_pass_the_gate(tmp_path: Path) -> None:
    answer = kron("plan", *files(tmp_path, OLD, OLD.replace("=backup", "=back-up")), *DAY, "--max-moved", "0")

    assert answer.code == 1
    assert "jobs with another identity, and other seconds for all runs: 1\n" in answer.out


def test_people_see_what_happens_to_which_run(tmp_path: Path) -> None:
    answer = kron("plan", *files(tmp_path, OLD, OLD.replace("0 6", "0 7")), *DAY)

    assert answer.out == (
        "after 2026-03-01T00:00:00Z until 2026-03-02T00:00:00Z\n"
        "runs that appear: 1\n  + 2026-03-01T07:00:00Z  check  (period 2026-03-01T07:00:00Z)\n"
        "runs that vanish: 1\n  - 2026-03-01T06:00:00Z  check  (period 2026-03-01T06:00:00Z)\n"
        "runs that move: 0\n"
        "most starts in a second 1 → 1, minute 1 → 1, hour 1 → 1\n"
    )


@pytest.mark.parametrize("wrong", ["0 25 * * * name=x command=true", "0 3 * * * name=x"])
def test_a_file_with_errors_is_reported_and_nothing_is_compared(tmp_path: Path, wrong: str) -> None:
    answer = kron("plan", *files(tmp_path, OLD, wrong), *DAY, "--json")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"{tmp_path}/new.kron:1: error: ")


@pytest.mark.parametrize("count", [1, 3])
def test_two_files_are_needed(tmp_path: Path, count: int) -> None:
    assert kron("plan", *[files(tmp_path, OLD, OLD)[0]] * count).code == 2


def test_a_file_and_a_directory_are_not_compared(tmp_path: Path) -> None:
    assert kron("plan", files(tmp_path, OLD, OLD)[0], str(tmp_path)).code == 2


# --- against a daemon -------------------------------------------------------------------------------------------------

JOB = '[jobs.backup]\nschedule = "0 3 * * *"\nwindow = "after,2h"\ncommand = "true"\n'


@pytest.fixture
def krond(tmp_path: Path) -> Iterator[Krond]:
    daemon = Krond(tmp_path, JOB).start()
    yield daemon
    daemon.kill()


def test_a_running_krond_is_compared_with_files_as_if_they_lay_where_its_own_do(krond: Krond, tmp_path: Path) -> None:
    new = tmp_path / "new.toml"
    new.write_text(JOB)
    same = kron("plan", "--live", str(new), "--state", str(krond.state), *DAY, "--json")
    new.write_text(f'{JOB}salt = "x"\n')

    changed = kron("plan", "--live", str(new), "--state", str(krond.state), *DAY, "--json")

    assert [same.json[field] for field in FIELDS[:6]] == [[]] * 6
    assert [move["identity"] for move in changed.json["move"]] == [f"{krond.file}:backup"]


def test_without_a_krond_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    answer = kron("plan", "--live", files(tmp_path, OLD, OLD)[0], "--state", str(tmp_path))

    assert answer.code == 1
    assert "error" in answer.err
