"""Jobs in TOML: every key, its forms, its default and its effect."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kron import Policy, Timing
from kron.jobfile.host_job import Command, HookCommand, Hooks, Webhook
from kron.jobfile.keys import IN_DEFAULTS, KEYS
from kron.rules.policy import Concurrency
from tests.jobfile.job_sets import job, jobs, read, table

IDENTITY = "/etc/krond/jobs.toml:x"


def test_a_job_needs_a_schedule_and_a_command_and_has_defaults_for_the_rest() -> None:
    found = job("")

    assert found.timing == Timing.parse("0 3 * * *", identity=IDENTITY)
    assert found.policy == Policy()
    assert found.command == Command(("true",))
    assert (found.retries, found.retry_delay, found.hooks) == (0, timedelta(seconds=30), Hooks())
    assert (found.file, found.line, found.description) == ("jobs.toml", 2, "")


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ('timezone = "Europe/Paris"', "0 3 * * * @tz(Europe/Paris)"),
        ('gap = "shift"\nrepeated = "first"', "0 3 * * * @dst(gap=shift,repeated=first)"),
        ('window = "after,3h"', "0 3 * * * @win(after,3h)"),
        ('window = {mode = "around", duration = "3h"}', "0 3 * * * @win(around,3h)"),
        ('distribution = "skewLate,shape=2.5"', "0 3 * * * @dist(skewLate,shape=2.5)"),
        ('distribution = {name = "skewLate", params = {shape = 2.5}}', "0 3 * * * @dist(skewLate,shape=2.5)"),
        ('seed = "daily,salt=prod"', "0 3 * * * @seed(daily,salt=prod)"),
        ('seed = {strategy = "daily", salt = "prod"}', "0 3 * * * @seed(daily,salt=prod)"),
        ('seed = "daily"\nsalt = "prod"', "0 3 * * * @seed(daily,salt=prod)"),
        ('only = "dow=MON-FRI;between=08:00-20:00"', "0 3 * * * @only(dow=MON-FRI;between=08:00-20:00)"),
        ('only = {dow = ["MON-FRI"], between = ["08:00-20:00"]}', "0 3 * * * @only(dow=MON-FRI;between=08:00-20:00)"),
        ('avoid = "date=2026-12-25"', "0 3 * * * @avoid(date=2026-12-25)"),
        ("avoid = {date = 2026-12-25}", "0 3 * * * @avoid(date=2026-12-25)"),
        ('schedule = "@daily @win(after,1h)"', "@daily @win(after,1h)"),
    ],
    ids=str,
)
def test_a_key_says_what_the_modifier_says(keys: str, line: str) -> None:
    assert job(keys).timing == Timing.parse(line, identity=IDENTITY)


def test_the_dialect_may_be_strict() -> None:
    (finding,) = read(table('schedule = "*/5 * * * *"\ndialect = "posix"')).findings

    assert finding.field == "jobs.x.schedule"
    assert "not POSIX" in finding.message


@pytest.mark.parametrize(
    ("keys", "policy"),
    [
        ('concurrency = "allow"', Policy(Concurrency.ALLOW)),
        ('deadline = "10m"', Policy(deadline=timedelta(minutes=10))),
        ("suspend = true", Policy(suspend=True)),
        ('schedule = "@daily @policy(deadline=0s)"\nconcurrency = "replace"', Policy(Concurrency.REPLACE)),
    ],
)
def test_the_policy_may_be_said_by_keys_or_by_its_modifier(keys: str, policy: Policy) -> None:
    assert job(keys).policy == policy


@pytest.mark.parametrize(
    ("keys", "changes"),
    [
        ('command = ["/bin/echo", "a b", "$HOME"]', {"argv": ("/bin/echo", "a b", "$HOME")}),
        ("command = \"echo 'a b' $HOME\"", {"argv": ("echo", "a b", "$HOME")}),
        ("command = \"echo 'a b'\"\nshell = true", {"argv": ("/bin/sh", "-c", "echo 'a b'")}),
        ('command = "echo"\nshell = "/bin/bash"', {"argv": ("/bin/bash", "-c", "echo")}),
        ('command = "echo"\nshell = false', {"argv": ("echo",)}),
        ('stdin = "a\\nb"', {"stdin": "a\nb"}),
        ('user = "ann"\ngroup = "staff"', {"user": "ann", "group": "staff"}),
        ('cwd = "/srv"', {"cwd": "/srv"}),
        ('umask = "022"', {"umask": 0o022}),
        ('env = {A = "1", "B b" = ""}', {"env": (("A", "1"), ("B b", ""))}),
        ('limits = {nofile = 1024, as = "512MiB"}', {"limits": (("nofile", 1024), ("as", 512 * 1024 * 1024))}),
        ('limits.core = "unlimited"', {"limits": (("core", -1),)}),
        ('timeout = "1h30m"', {"timeout": timedelta(minutes=90)}),
        ('grace = "0s"', {"grace": timedelta()}),
        ('stdout = "file:/var/log/x"\nstderr = "stdout"', {"stdout": "file:/var/log/x", "stderr": "stdout"}),
        ('stdout = "syslog"\nstderr = "discard"', {"stdout": "syslog", "stderr": "discard"}),
        ('output_limit = "64KiB"', {"output_limit": 65536}),
    ],
    ids=str,
)
def test_a_key_says_how_the_command_is_run(keys: str, changes: dict[str, object]) -> None:
    assert job(keys).command == replace(Command(("true",)), **changes)  # type: ignore[arg-type] # as named


def test_hooks_are_addresses_and_commands() -> None:
    keys = (
        'on_failure = ["https://a.example/x", "page me", ["page", "a b"]]\nlate_after = "5m"\nping = "http://b.example"'
    )

    hooks = job(keys).hooks

    programs = (HookCommand(("page", "me")), HookCommand(("page", "a b")))
    assert hooks.on_failure == (Webhook("https://a.example/x"), *programs)
    assert (hooks.late_after, hooks.ping) == (timedelta(minutes=5), "http://b.example")


def test_a_hook_is_run_by_the_shell_of_the_command() -> None:
    assert job('shell = true\non_late = ["a | b"]').hooks.on_late == (HookCommand(("/bin/sh", "-c", "a | b")),)


def test_retries_and_description_are_kept() -> None:
    found = job('retries = 3\nretry_delay = "5m"\ndescription = "nightly"')

    assert (found.retries, found.retry_delay, found.description) == (3, timedelta(minutes=5), "nightly")


def test_a_job_may_run_at_boot() -> None:
    found = job('schedule = "@reboot"')

    assert found.timing is None
    assert found.schedule == "@reboot"


def test_a_part_knows_its_line() -> None:
    found = job('suspend = true\nwindow = "after,1h"', 'deadline = "1m"')

    assert (found.line_of("deadline"), found.line_of("suspend"), found.line_of("window")) == (2, 4, 5)
    assert found.line_of("salt") == found.line == 3


# --- defaults ---------------------------------------------------------------------------------------------------------


def test_defaults_hold_for_jobs_that_do_not_say_otherwise() -> None:
    defaults = 'timezone = "Asia/Tokyo"\nwindow = "after,1h"\nuser = "ann"\ndeadline = "1m"'

    found = job('window = "after,2h"', defaults)

    assert found.timing == Timing.parse("0 3 * * * @tz(Asia/Tokyo) @win(after,2h)", identity=IDENTITY)
    assert (found.command.user, found.policy.deadline) == ("ann", timedelta(minutes=1))


@pytest.mark.parametrize("name", ["env", "limits"])
def test_tables_of_defaults_and_job_are_merged(name: str) -> None:
    found = job(f'{name} = {{nofile = "2", cpu = "3"}}', f'{name} = {{core = "1", nofile = "1"}}')

    merged = dict(getattr(found.command, name))
    assert {key: str(value) for key, value in merged.items()} == {"core": "1", "nofile": "2", "cpu": "3"}


def test_a_modifier_of_a_job_replaces_the_default() -> None:
    found = job('schedule = "0 3 * * * @seed(daily,salt=a) @tz(UTC)"', 'salt = "b"\ntimezone = "Asia/Tokyo"')

    assert found.timing == Timing.parse("0 3 * * * @seed(daily,salt=a)", identity=IDENTITY)


@pytest.mark.parametrize(
    ("keys", "defaults", "strategy", "salt"),
    [
        ('seed = "daily"', 'salt = "a"', "daily", "a"),
        ('seed = "daily"', 'seed = "weekly,salt=a"', "daily", ""),
        ('salt = "b"', 'seed = "weekly,salt=a"', "weekly", "b"),
        ('salt = ""', 'salt = "a"', "stable", ""),
    ],
)
def test_a_key_replaces_the_key_of_the_defaults_and_no_other(
    keys: str, defaults: str, strategy: str, salt: str
) -> None:
    timing = job(keys, defaults).timing

    assert timing is not None
    assert (timing.seed.strategy.value, timing.seed.salt) == (strategy, salt)


def test_defaults_do_not_reach_what_has_no_window() -> None:
    assert job('schedule = "@reboot"', 'window = "after,1h"\nsalt = "a"\ngap = "shift"').timing is None


@pytest.mark.parametrize("key", [key for key in KEYS if key not in IN_DEFAULTS])
def test_keys_of_a_single_job_are_no_defaults(key: str) -> None:
    (finding,) = read(table("", f'{key} = "x"')).findings

    assert (finding.line, finding.field, finding.message) == (
        2,
        f"defaults.{key}",
        "belongs to each job, not to the defaults",
    )


# --- identity ---------------------------------------------------------------------------------------------------------


def test_the_host_and_the_machine_are_expanded_in_identity_and_salt() -> None:
    found = job('identity = "{host}/x"\nsalt = "{machine}-{host}"')

    assert found.timing is not None
    assert (found.identity, found.timing.seed.salt) == ("web1/x", "0123456789abcdef-web1")
    assert found.varies_by_host


def test_the_default_identity_is_the_path_and_the_name() -> None:
    found = job("")

    assert found.identity == IDENTITY
    assert not found.varies_by_host


@pytest.mark.parametrize("text", ["{hostname}", "{}", "{ host }", "{", "a}", "{{host}}"])
@pytest.mark.parametrize("key", ["salt", "identity"])
def test_any_other_word_in_braces_is_refused(key: str, text: str) -> None:
    (finding,) = read(table(f'{key} = "{text}"')).findings

    assert (finding.line, finding.field) == (3, f"jobs.x.{key}")


def test_a_wrong_salt_of_the_defaults_is_reported_once() -> None:
    job_table = '= {schedule = "@daily", command = "x"}'

    found = read(f'[defaults]\nsalt = "{{hots}}"\n[jobs]\na {job_table}\nb {job_table}')

    assert [(finding.line, finding.field) for finding in found.findings] == [(2, "defaults.salt")]


def test_jobs_may_stand_in_any_shape_of_toml() -> None:
    text = 'jobs.a.schedule = "@daily"\njobs.a.command = "x"\n[jobs]\n'
    other = '[jobs]\nb = {schedule = "@daily", command = "x"}\n[jobs."c d"]\nschedule = "@daily"\ncommand = "x"\n'

    assert set(jobs(text.removesuffix("[jobs]\n"))) == {"a"}
    assert set(jobs(other)) == {"b", "c d"}
