"""--inventory: the files of a fleet, as each of its hosts reads them."""

from pathlib import Path

import pytest

from tests.cli.fleet_files import COMMANDS, DAY, MACHINE, NAMED, NEXT, PLAIN, SALTED, ask, fleet, inventory, seconds
from tests.cli.kron_runner import kron


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "jobs.kron"
    path.write_text(SALTED)
    return str(path)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_the_files_as_each_host_of_an_inventory_does(
    command: str, file: str, tmp_path: Path
) -> None:
    answer = ask(command, file, *inventory(tmp_path, "# the fleet", "web1", "", "web2  # the second one"))

    assert (answer.code, answer.err) == (0, "")


def test_rows_of_a_feed_name_the_host(file: str, tmp_path: Path) -> None:
    alone = [seconds(kron("feed", file, *DAY, "--host", name)) for name in ("web1", "web2")]

    rows = kron("feed", file, *DAY, *inventory(tmp_path, "web1", "web2")).json

    found = {row["host"]: [row["chosen_time"]] for row in rows}
    assert found == dict(zip(("web1", "web2"), alone, strict=True))
    assert len({row["identity"] for row in rows}) == 1


def test_rows_of_next_name_the_host(file: str, tmp_path: Path) -> None:
    given = inventory(tmp_path, "web1", "web2")

    rows = kron("next", "--file", file, *NEXT, "--json", *given).json
    shown = kron("next", "--file", file, *NEXT, *given).out

    assert sorted(row["host"] for row in rows) == ["web1", "web2"]
    assert all(f"backup ({name})" in shown for name in ("web1", "web2"))


def test_a_table_of_a_feed_has_a_column_for_the_host(file: str, tmp_path: Path) -> None:
    head, *rows = kron("feed", file, *DAY, "--format", "csv", *inventory(tmp_path, "web1", "web2")).out.splitlines()

    assert head.endswith(",name,host")
    assert sorted(row.rpartition(",")[2] for row in rows) == ["web1", "web2"]


def test_a_calendar_distinguishes_runs_of_hosts_that_share_a_second(file: str, tmp_path: Path) -> None:
    Path(file).write_text(SALTED.replace("{host}", "x"))

    lines = kron("feed", file, *DAY, "--format", "ics", *inventory(tmp_path, "web1", "web2")).out.splitlines()

    assert len({line for line in lines if line.startswith("UID:")}) == 2
    assert [line for line in lines if line.startswith("SUMMARY:")] == ["SUMMARY:backup (web1)", "SUMMARY:backup (web2)"]


def test_a_forecast_counts_all_hosts_and_names_them_in_collisions(file: str, tmp_path: Path) -> None:
    Path(file).write_text("0 3 * * * name=backup command=true\n")
    given = inventory(tmp_path, "web1", "web2")

    found = kron("forecast", file, *DAY, "--json", *given).json

    assert (found["jobs"], found["runs"], found["chosen"]["second"]["count"]) == (2, 2, 2)
    assert found["collisions"] == [
        {
            "at": "2026-03-01T03:00:00Z",
            "count": 2,
            "identities": [f"{file}:backup"] * 2,
            "hosts": ["web1", "web2"],
        }
    ]
    assert "backup (web1), backup (web2)" in kron("forecast", file, *DAY, *given).out


def test_a_duration_and_a_job_are_meant_on_all_hosts(file: str, tmp_path: Path) -> None:
    Path(file).write_text(NAMED)
    given = inventory(tmp_path, "web1", "web2")

    found = kron("forecast", file, *DAY, "--json", "--duration", "backup=5m", *given).json
    rows = kron("feed", file, *DAY, "--job", "backup", *given).json

    assert found["concurrency"]["jobs"] == 2
    assert sorted(row["identity"] for row in rows) == ["web1/backup", "web2/backup"]


def test_a_plan_compares_host_by_host(file: str, tmp_path: Path) -> None:
    new = tmp_path / "new.kron"
    new.write_text(SALTED.replace("2h", "1h"))
    given = inventory(tmp_path, "web1", "web2")
    moved = {
        (name, move["from"], move["to"])
        for name in ("web1", "web2")
        for move in kron("plan", file, str(new), *DAY, "--json", "--host", name).json["move"]
    }

    answer = kron("plan", file, str(new), *DAY, "--json", *given)

    assert {(move["host"], move["from"], move["to"]) for move in answer.json["move"]} == moved
    assert kron("plan", file, str(new), *DAY, "--max-moved", "1", *given).code == 1


def test_globs_of_an_inventory_name_the_files_of_each_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fleet(tmp_path, "repo", web1=PLAIN, web2=PLAIN)
    monkeypatch.chdir("/")

    rows = kron("feed", *DAY, "--inventory", str(folder / "hosts.txt")).json

    assert sorted((row["host"], row["identity"]) for row in rows) == [
        (name, f"{folder}/hosts/{name}/jobs.kron:backup") for name in ("web1", "web2")
    ]


def test_globs_and_bare_hosts_may_stand_side_by_side(file: str, tmp_path: Path) -> None:
    folder = fleet(tmp_path, "repo", web1=PLAIN)
    with (folder / "hosts.txt").open("a") as opened:
        opened.write("\nweb2\n")

    rows = kron("feed", file, *DAY, "--inventory", str(folder / "hosts.txt")).json

    assert {row["host"]: row["identity"].rpartition("/")[0] for row in rows} == {
        "web1": f"{folder}/hosts/web1",
        "web2": str(tmp_path),
    }


def test_a_plan_of_two_fleets_compares_the_files_that_the_globs_choose(tmp_path: Path) -> None:
    old = fleet(tmp_path, "old", web1=PLAIN, web2=PLAIN)
    new = fleet(tmp_path, "new", web1=PLAIN, web2=PLAIN.replace("2h", "1h"), web3=PLAIN)

    found = kron("plan", str(old), str(new), *DAY, "--json", "--inventory", str(new / "hosts.txt")).json

    assert [move["host"] for move in found["move"]] == ["web2"]
    assert [(row["host"], row["identity"]) for row in found["appear"]] == [
        ("web3", f"{old}/hosts/web3/jobs.kron:backup")
    ]
    assert found["vanish"] == found["identity_changed"] == []


def test_tune_writes_into_the_file_of_one_host_and_leaves_shared_ones_alone(tmp_path: Path) -> None:
    folder = fleet(tmp_path, "repo", web1="0 3 * * * name=a command=true\n", web2="0 3 * * * name=b command=true\n")
    span = ("--budget", "1", "--from", DAY[1], "--to", "1d")

    answer = kron("tune", *span, "--json", "--write", "--inventory", str(folder / "hosts.txt"))

    (change,) = answer.json["changes"]
    assert change["identity"].startswith(f"{folder}/hosts/{change['host']}/jobs.kron:")
    texts = {name: (folder / "hosts" / name / "jobs.kron").read_text() for name in ("web1", "web2")}
    assert [name for name, text in texts.items() if "@win" in text] == [change["host"]]


def test_tune_cannot_move_a_job_apart_from_itself(file: str, tmp_path: Path) -> None:
    Path(file).write_text("0 3 * * * name=backup command=true\n")
    span = ("--budget", "1", "--from", DAY[1], "--to", "1d")

    answer = kron("tune", file, *span, "--json", *inventory(tmp_path, "web1", "web2"))

    assert (answer.code, answer.json["changes"]) == (1, [])
    assert answer.err.endswith("; left alone, because they depend on the host or several hosts have them: 1 job\n")


def test_a_salt_for_a_second_is_of_one_host(file: str, tmp_path: Path) -> None:
    Path(file).write_text(SALTED.replace("2h", "20s"))
    given = ("tune", file, "--job", "backup", "--to", "2026-03-01T03:00:07Z")

    assert "give --host" in kron(*given, *inventory(tmp_path, "web1", "web2")).err
    assert kron(*given, "--host", "web1").code == 0


MISTAKES: dict[str, tuple[str, str]] = {
    "no match": ("web1 nowhere/*.toml", ':1: error: glob: matches nothing, found "nowhere/*.toml"'),
    "twice": ("web1\n\nweb1", ':3: error: host: "web1" is already the host of line 1; name each host once'),
    "no host": ("# no host\n", ":1: error: host: names no host; write a line HOST [GLOB...]"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("text", "error"), MISTAKES.values(), ids=MISTAKES)
def test_a_wrong_inventory_gets_one_clear_error(command: str, text: str, error: str, file: str, tmp_path: Path) -> None:
    answer = ask(command, str(tmp_path) if command == "plan" else file, *inventory(tmp_path, text))

    (line,) = answer.err.splitlines()
    assert (answer.code, answer.out) == (2, "")
    assert error in line


@pytest.mark.parametrize("options", [("--host", "web1"), ("--machine", "abc")])
@pytest.mark.parametrize("command", COMMANDS)
def test_one_host_and_many_exclude_each_other(
    command: str, options: tuple[str, ...], file: str, tmp_path: Path
) -> None:
    answer = ask(command, file, *options, *inventory(tmp_path, "web1"))

    assert answer.code == 2
    assert f"{options[0]} is for one host, --inventory for many" in answer.err


def test_an_inventory_that_cannot_be_read_is_wrong_usage(file: str, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xff")

    for name, word in (("gone", "No such file"), ("latin", "is not UTF-8"), (".", "Is a directory")):
        answer = kron("feed", file, *DAY, "--inventory", str(tmp_path / name))
        assert (answer.code, word in answer.err) == (2, True)


def test_files_are_given_if_and_only_if_a_host_needs_them(file: str, tmp_path: Path) -> None:
    folder = fleet(tmp_path, "repo", web1=PLAIN)

    assert "give no files beside --inventory" in kron("feed", file, *DAY, "--inventory", str(folder / "hosts.txt")).err
    assert "web1 has no globs, and no files are given: " in kron("feed", *DAY, *inventory(tmp_path, "web1")).err
    assert "Missing argument" in kron("feed", *DAY).err


def test_globs_that_choose_from_neither_side_of_a_plan_are_refused(tmp_path: Path) -> None:
    folder, old = fleet(tmp_path, "repo", web1=PLAIN), fleet(tmp_path, "old", web1=PLAIN)

    answer = kron("plan", str(old), str(old), *DAY, "--inventory", str(folder / "hosts.txt"))

    assert answer.code == 2
    assert "it must lie in OLD or in NEW" in answer.err


def test_the_machine_of_a_host_of_an_inventory_is_not_known(file: str, tmp_path: Path) -> None:
    Path(file).write_text(MACHINE)

    answer = kron("feed", file, *DAY, *inventory(tmp_path, "web1", "web2"))

    (line,) = answer.err.splitlines()
    assert answer.code == 2
    assert ':1: error: schedule: the machine of web1 is not known, found "{machine}"; use {host}' in line


def test_registrations_are_the_same_on_all_hosts(tmp_path: Path) -> None:
    answer = kron("feed", "some.module:registrations", *DAY, *inventory(tmp_path, "web1"))

    assert answer.code == 2
    assert "--inventory is for job files" in answer.err
