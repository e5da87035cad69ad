"""kron tune: propose or write salts for a budget of starts, and find a salt for a given second."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron

FIXED_DATE = '[jobs.x]  # once\nschedule = "5 14 3 11 *"\nwindow = "after,10m"\ncommand = "true"\n'
CROWD = "# a crowd\n" + "".join(
    f"0 3 * * *  name=job-{number} identity=crowd/{number} command=true\n" for number in range(6)
)
DAY = ("--from", "2026-03-01T00:00:00Z", "--to", "2026-03-02T00:00:00Z")
WHEN = "2026-11-03T14:09:41Z"


def write(folder: Path, text: str, name: str = "jobs.kron") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_the_proposal_has_the_peaks_before_and_after_and_the_changes(tmp_path: Path) -> None:
    path = write(tmp_path, CROWD)
    answer = kron("tune", path, "--budget", "2", *DAY, "--json")

    assert answer.code == 0
    assert list(answer.json) == ["before", "after", "changes"]
    assert answer.json["before"]["second"] == {"count": 6, "at": "2026-03-01T03:00:00Z"}
    assert answer.json["after"]["second"]["count"] == 2
    assert len(answer.json["changes"]) == 4
    assert answer.json["changes"][0] == {
        "identity": "crowd/0", "key": "window", "old": "after,0s", "new": "after,1m",
    }  # fmt: skip
    assert Path(path).read_text() == CROWD


def test_the_written_file_has_the_promised_peak(tmp_path: Path) -> None:
    path = write(tmp_path, CROWD)
    promised = kron("tune", path, "--budget", "2", *DAY, "--json", "--write").json["after"]

    assert kron("forecast", path, *DAY, "--json").json["chosen"] == promised
    assert (
        Path(path)
        .read_text()
        .startswith("# a crowd\n0 3 * * * @win(after,1m)  name=job-0 identity=crowd/0 command=true\n")
    )
    assert kron("tune", path, "--budget", "2", *DAY, "--json").json["changes"] == []


def test_without_write_a_patch_is_printed_that_does_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, CROWD)
    patch = kron("tune", path, "--budget", "2", *DAY).out

    subprocess.run(["patch", "--quiet", path], input=patch, text=True, check=True)

    assert kron("forecast", path, *DAY, "--json").json["chosen"]["second"]["count"] == 2


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = write(tmp_path, CROWD)
    Path(path).chmod(0o640)

    kron("tune", path, "--budget", "2", *DAY, "--write")

    assert Path(path).stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["jobs.kron"]


@pytest.mark.parametrize("per", ["minute", "hour"])
def test_a_budget_can_be_for_longer_than_a_second(tmp_path: Path, per: str) -> None:
    answer = kron("tune", write(tmp_path, CROWD), "--budget", "4", "--per", per, *DAY, "--json")

    assert answer.code == 0
    assert answer.json["after"][per]["count"] <= 4


def test_a_budget_out_of_reach_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    crowd = "".join(f"* * * * * name=job-{number} command=true\n" for number in range(3))
    path = write(tmp_path, crowd)

    answer = kron("tune", path, "--budget", "2", "--per", "minute", *DAY, "--to", "1h", "--write")

    assert answer.code == 1
    assert "kron: at most 2 in one minute is out of reach of salts and windows\n" in answer.err
    assert Path(path).read_text() == crowd


def test_jobs_that_depend_on_the_host_are_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path, '0 3 * * * name=a identity="{host}/a" command=true\n0 3 * * * name=b command=true\n')

    changes = kron("tune", path, "--budget", "1", *DAY, "--json").json["changes"]

    assert [change["identity"] for change in changes] == [f"{path}:b"]


def test_a_file_that_only_its_author_should_change_is_left_alone(tmp_path: Path) -> None:
    tables = "".join(f"[jobs.{name}]\nschedule = '''0 3 * * *'''\ncommand = 'true'\n" for name in "ab")
    path = write(tmp_path, tables, "jobs.toml")

    proposed, written = (kron("tune", path, "--budget", "1", *DAY, *more) for more in ((), ("--write",)))

    assert (proposed.code, written.code) == (0, 2)
    assert "no patch" in proposed.err
    assert "change it by hand" in written.err
    assert Path(path).read_text() == tables


# --- a salt for a second ----------------------------------------------------------------------------------------------


def test_the_salt_leads_to_the_second_that_was_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, FIXED_DATE, "jobs.toml")
    salt = kron("tune", path, "--job", "x", "--to", WHEN).out.removesuffix("\n")
    (tmp_path / "jobs.toml").write_text(f'{FIXED_DATE}salt = "{salt}"\n')

    rows = kron("feed", path, "--from", "2026-11-03T00:00:00Z", "--to", "24h").json

    assert [row["chosen_time"] for row in rows] == [WHEN]


def test_the_salt_can_be_written_at_once_and_holds_for_where_the_file_will_lie(tmp_path: Path) -> None:
    path = write(tmp_path, FIXED_DATE, "jobs.toml")
    there = ("--at-path", "/etc/krond/jobs.toml")

    answer = kron("tune", path, "--job", "x", "--to", WHEN, *there, "--write", "--json").json

    rows = kron("feed", path, "--from", "2026-11-03T00:00:00Z", "--to", "24h", *there).json
    assert answer == {
        "identity": "/etc/krond/jobs.toml:x", "period_id": "2026-11-03T14:05:00Z", "chosen_time": WHEN,
        "salt": rows[0]["salt"],
    }  # fmt: skip
    assert rows[0]["chosen_time"] == WHEN
    assert Path(path).read_text().startswith("[jobs.x]  # once\n")


def test_a_time_without_a_zone_is_one_of_the_job(tmp_path: Path) -> None:
    path = write(tmp_path, FIXED_DATE + 'timezone = "Asia/Tokyo"\n', "jobs.toml")

    answer = kron("tune", path, "--job", "x", "--to", "2026-11-03 14:09:41", "--json")

    assert answer.json["chosen_time"] == "2026-11-03T05:09:41Z"


def test_a_second_outside_the_window_has_no_salt(tmp_path: Path) -> None:
    answer = kron("tune", write(tmp_path, FIXED_DATE, "jobs.toml"), "--job", "x", "--to", "2026-11-03T14:16:00Z")

    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "kron: x cannot run at 2026-11-03T14:16:00Z: no period has it in its window\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--budget", "0"),
        ("--budget", "1", "--job", "x"),
        ("--job", "x"),
        ("--job", "y", "--to", WHEN),
        ("--job", "x", "--to", "soon"),
        ("--budget", "1", "--per", "day"),
    ],
    ids=lambda words: " ".join(words) or "nothing",
)
def test_wrong_usage_is_said(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    answer = kron("tune", write(tmp_path, FIXED_DATE, "jobs.toml"), *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err


def test_a_file_with_errors_is_reported_and_nothing_is_tuned(tmp_path: Path) -> None:
    answer = kron("tune", write(tmp_path, "0 25 * * * name=x command=true\n"), "--budget", "1")

    assert (answer.code, answer.out) == (2, "")
    assert ": error: schedule: hour field " in answer.err
