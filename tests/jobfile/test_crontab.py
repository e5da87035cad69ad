"""Crontabs: lines, variables, comments, and cron's own rules."""

from hashlib import sha256

import pytest

from kron import Timing
from kron.jobfile.host_job import HostJob
from kron.jobfile.job_file import HostInfo
from kron.rules.policy import Concurrency
from tests.jobfile.job_sets import jobs, read


def only(text: str, form: str = "crontab") -> HostJob:
    (found,) = jobs(text, form).values()
    return found


def timing(found: HostJob) -> Timing:
    assert found.timing is not None
    return found.timing


# --- lines ------------------------------------------------------------------------------------------------------------


def test_a_line_has_the_zone_of_the_host_a_shell_and_may_overlap() -> None:
    found = only("0 3 * * * /usr/sbin/backup --all  # really\n")

    assert found.timezone == "Europe/Paris"
    assert found.command.argv == ("/bin/sh", "-c", "/usr/sbin/backup --all  # really")
    assert found.policy.concurrency is Concurrency.ALLOW
    assert dict(found.command.env) == {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
    assert (found.command.user, found.command.cwd, found.command.stdin) == ("", "", "")


def test_the_system_form_has_a_column_for_the_user() -> None:
    found = only("0 3\t* * *\tann \t /usr/sbin/backup --all", "system-crontab")

    assert (found.command.user, found.command.argv[2]) == ("ann", "/usr/sbin/backup --all")
    assert found.schedule == "0 3\t* * *"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("@daily x", "@daily"),
        ("@Midnight x", "@midnight"),
        ("@annually x", "@yearly"),
        ("0 0 * JAN sun x", "0 0 * 1 0"),
        ("0 0 */2 * 1 x", "0 0 */2 * 1"),
        ("5-7 0 * * SAT-SUN x", "5-7 0 * * 6,0"),
    ],
)
def test_the_language_of_crontabs_is_read(line: str, text: str) -> None:
    assert timing(only(line)).schedule.expression == Timing.parse(text, identity="x").schedule.expression


def test_modifiers_stand_between_the_fields_and_the_user() -> None:
    line = "0 3 * * * @win(after,2h) @tz(UTC) @policy(concurrency=forbid) root /usr/sbin/backup"

    found = only(line, "system-crontab")

    expected = Timing.parse("0 3 * * * @win(after,2h) @dst(gap=shift,repeated=first)", identity=found.identity)
    assert found.timing == expected
    assert (found.command.user, found.policy.concurrency) == ("root", Concurrency.FORBID)


def test_a_line_may_run_at_boot() -> None:
    found = only("@reboot /usr/bin/x")

    assert (found.timing, found.command.argv[2], found.timezone) == (None, "/usr/bin/x", "Europe/Paris")


@pytest.mark.parametrize(
    ("line", "gap", "repeated"),
    [
        ("30 2 * * * x", "shift", "first"),
        ("@daily x", "shift", "first"),
        ("30 1-3 * * * x", "shift", "first"),
        ("*/5 2 * * * x", "skip", "both"),
        ("30 * * * * x", "skip", "both"),
        ("30 */2 * * * x", "skip", "both"),
        ("@hourly x", "skip", "both"),
        ("30 2 * * * @dst(gap=skip) x", "skip", "first"),
        ("30 * * * * @dst(repeated=first) x", "skip", "first"),
    ],
)
def test_nights_of_clock_changes_go_as_with_cron(line: str, gap: str, repeated: str) -> None:
    schedule = timing(only(line)).schedule

    assert (schedule.gap.value, schedule.repeated.value) == (gap, repeated)


# --- names ------------------------------------------------------------------------------------------------------------


def hashed(base: str, user: str, command: str) -> str:
    digest = sha256((user + "\n" + command).encode()).hexdigest()
    return f"{base}-{digest[:8]}"


def test_a_line_is_named_by_what_it_runs() -> None:
    assert only("0 3 * * * /usr/sbin/backup --all").name == hashed("backup", "", "/usr/sbin/backup --all")
    assert only("0 3 * * * ann backup", "system-crontab").name == hashed("backup", "ann", "backup")


def test_neither_its_time_nor_its_place_changes_a_lines_identity() -> None:
    first = jobs("0 3 * * * a\n0 4 * * * b", "crontab")
    second = jobs("# x\n7 7 * * * b\n@hourly c\n\n*/5 * * * * a", "crontab")

    assert set(first) < set(second)


def test_the_same_command_again_gets_a_number() -> None:
    name = hashed("a", "", "a x")

    assert list(jobs("0 3 * * * a x\n0 4 * * * a x\n0 5 * * * a x", "crontab")) == [name, f"{name}-2", f"{name}-3"]


def test_a_comment_just_above_names_a_line() -> None:
    text = '# kron: name=nightly identity="prod/{host}"\n0 3 * * * a\n#kron:name=b\n0 3 * * * a\n0 3 * * * a'

    found = jobs(text, "crontab")

    assert list(found) == ["nightly", "b", hashed("a", "", "a")]
    assert found["nightly"].identity == "prod/web1"
    assert found["b"].identity == "/var/spool/ann.crontab:b"


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("# kron: name=a\n\n0 3 * * * x", 1, "kron"),
        ("# kron: name=a\nA=1\n0 3 * * * x", 1, "kron"),
        ("# kron: name=a", 1, "kron"),
        ("# kron: title=a\n0 3 * * * x", 1, "kron"),
        ("# kron:\n0 3 * * * x", 1, "kron"),
        ("# kron: name=a name=b\n0 3 * * * x", 1, "kron"),
        ('# kron: name="a\n0 3 * * * x', 1, "line"),
        ("# kron: name=a\n0 3 * * * x\n# kron: name=a\n0 3 * * * x", 3, "name"),
    ],
)
def test_a_comment_that_names_no_line_is_an_error(text: str, line: int, field: str) -> None:
    (finding,) = read(text, "crontab").findings

    assert (finding.level, finding.line, finding.field) == ("error", line, field)


def test_other_comments_say_nothing() -> None:
    assert list(jobs("# kronos: name=x\n # 0 3 * * * y\n", "crontab")) == []


# --- variables --------------------------------------------------------------------------------------------------------


def test_a_variable_holds_for_the_lines_below_it() -> None:
    found = jobs("0 3 * * * a\nA=1\n0 3 * * * b\nA=2\n0 3 * * * c", "crontab")

    assert [dict(job.command.env).get("A") for job in found.values()] == [None, "1", "2"]


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("A=1", "A", "1"),
        ("A = two words  ", "A", "two words"),
        ('A="  x "', "A", "  x "),
        ("A='\"'", "A", '"'),
        ("'A' = b", "A", "b"),
        ("A=", "A", ""),
        ("A=b # c", "A", "b # c"),
        ("A=$HOME/x", "A", "$HOME/x"),
        ("TZ=Asia/Tokyo", "TZ", "Asia/Tokyo"),
    ],
)
def test_variables_are_written_as_in_cron(line: str, name: str, value: str) -> None:
    found = only(f"{line}\n0 3 * * * x")

    assert dict(found.command.env)[name] == value
    assert found.timezone == "Europe/Paris"


def test_shell_path_and_home_are_obeyed() -> None:
    command = only("SHELL=/bin/bash\nPATH=/opt\nHOME=/srv\n0 3 * * * x").command

    assert command.argv[0] == "/bin/bash"
    assert command.cwd == ""  # and so its home, which is the root if it does not exist
    assert dict(command.env) == {"SHELL": "/bin/bash", "PATH": "/opt", "HOME": "/srv"}


def test_the_zone_of_the_lines_below_may_be_set() -> None:
    found = jobs("0 3 * * * a\nCRON_TZ=Asia/Tokyo\n0 3 * * * b\n0 3 * * * @tz(UTC) c", "crontab")

    assert [job.timezone for job in found.values()] == ["Europe/Paris", "Asia/Tokyo", "UTC"]
    assert all("CRON_TZ" not in dict(job.command.env) for job in found.values())


@pytest.mark.parametrize("name", ["LOGNAME", "USER"])
def test_the_user_of_a_line_cannot_be_changed(name: str) -> None:
    found = read(f"{name}=bob\n0 3 * * * x", "crontab")

    assert name not in dict(found.jobs[0].command.env)
    assert [(finding.level, finding.field) for finding in found.findings] == [("notice", name)]


def test_mail_is_passed_on_and_spoken_of_once() -> None:
    found = read("MAILTO=a\nMAILFROM=b\n0 3 * * * x\nMAILTO=c\n0 3 * * * y", "crontab")

    assert [dict(job.command.env)["MAILTO"] for job in found.jobs] == ["a", "c"]
    assert [(finding.level, finding.line, finding.field) for finding in found.findings] == [("notice", 1, "MAILTO")]


def test_no_mail_wanted_is_nothing_to_speak_of() -> None:
    assert read('MAILTO=""\n0 3 * * * x', "crontab").findings == ()


# --- percent ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "executed", "stdin"),
    [
        ("cat%a%b", "cat", "a\nb"),
        ("cat %a", "cat", "a"),
        ("date +\\%H", "date +%H", ""),
        ("date +\\%H%in \\% put", "date +%H", "in % put"),
        ("cat%", "cat", ""),
        ("cat%%", "cat", "\n"),
        ("cat \\\\%x", "cat \\%x", ""),
    ],
)
def test_a_percent_sign_ends_the_command_and_begins_what_it_reads(command: str, executed: str, stdin: str) -> None:
    found = only(f"0 3 * * * {command}").command

    assert (found.argv[2], found.stdin) == (executed, stdin)


# --- mistakes ---------------------------------------------------------------------------------------------------------

MISTAKES = {
    "no command": ("0 3 * * *", "command"),
    "no command after a modifier": ("0 3 * * * @win(after,1h)", "command"),
    "four fields": ("0 3 * * backup", "schedule"),
    "seconds": ("0 0 3 * * * backup", "command"),
    "wrong minute": ("61 3 * * * backup", "schedule"),
    "wrapped range": ("0 22-2 * * * backup", "schedule"),
    "Quartz": ("0 3 L * * backup", "schedule"),
    "unknown macro": ("@fortnightly backup", "schedule"),
    "unknown modifier": ("0 3 * * * @jitter(2h) backup", "modifier"),
    "wrong modifier": ("0 3 * * * @win(before,2h) backup", "@win mode"),
    "wrong zone": ("CRON_TZ=Mars/Phobos\n", "CRON_TZ"),
    "comment that says nothing": ("# kron:\n", "kron"),
    "wrong name in the comment": ('# kron: name=" "\n0 3 * * * x', "name"),
    "wrong identity in the comment": ("# kron: identity={foo}\n0 3 * * * x", "identity"),
    "relative shell": ("SHELL=bash\n", "SHELL"),
    "relative home": ("HOME=here\n", "HOME"),
    "our own variable": ("KRON_X=1\n", "env"),
    "NUL": ("0 3 * * * a\0b", "command"),
}


@pytest.mark.parametrize(("text", "field"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_one_error(text: str, field: str) -> None:
    (finding,) = read(text, "crontab").findings

    assert (finding.level, finding.line, finding.field) == ("error", 1, field)
    assert finding.fix


def test_every_wrong_field_of_a_line_is_reported() -> None:
    assert [finding.message.split()[0] for finding in read("61 25 * * FRY backup", "crontab").findings] == [
        "minute",
        "hour",
        "weekday",
    ]


@pytest.mark.parametrize(
    ("line", "field"), [("0 3 * * *", "user"), ("0 3 * * * root", "command"), ("0 0 3 * * * root x", "user")]
)
def test_the_system_form_needs_a_user_and_a_command(line: str, field: str) -> None:
    (finding,) = read(line, "system-crontab").findings

    assert finding.field == field


def test_a_host_without_a_known_zone_needs_one_in_the_file() -> None:
    nowhere = HostInfo("web1", "m", "")

    (finding,) = read("0 3 * * * a\nCRON_TZ=UTC\n0 3 * * * b\n@reboot c", "crontab", nowhere).findings

    assert (finding.line, finding.field) == (1, "timezone")
