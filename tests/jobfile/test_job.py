"""Jobs of `.kron` files: a line, its settings and quotes, parsed and printed."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from kron import Job, Policy, Timing
from kron.errors import InvalidCronExpressionError, InvalidDefinitionError
from kron.jobfile.keys import IN_LINES, REPEATABLE
from kron.rules.policy import Concurrency
from tests.decision.strategies import definitions, texts

SCHEDULE = "0 3 * * *"
settings_lists = st.lists(
    st.tuples(st.sampled_from(IN_LINES), texts),
    max_size=6,
    unique_by=lambda setting: setting if setting[0] in REPEATABLE else setting[0],
)


def job(rest: str, schedule: str = SCHEDULE) -> Job:
    return Job.parse(f"{schedule} {rest}", identity="test/job")


def setting(rest: str, key: str) -> str:
    return dict(job(rest).settings)[key]


def refusal(rest: str) -> InvalidDefinitionError:
    with pytest.raises(InvalidDefinitionError) as caught:
        job(rest)
    return caught.value


# --- reading ----------------------------------------------------------------------------------------------------------


def test_a_line_is_a_timing_a_policy_and_settings() -> None:
    line = '0 3 * * * @tz(Europe/Paris) @win(after,2h) @policy(concurrency=allow) name=backup command="/bin/b -q"'

    read = Job.parse(line, identity="test/job")

    assert read.timing == Timing.parse("0 3 * * * @tz(Europe/Paris) @win(after,2h)", identity="test/job")
    assert read.policy == Policy(Concurrency.ALLOW)
    assert read.settings == (("name", "backup"), ("command", "/bin/b -q"))


def test_a_line_may_do_without_modifiers_and_settings() -> None:
    assert Job.parse(SCHEDULE, identity="test/job") == Job(Timing.parse(SCHEDULE, identity="test/job"))


@pytest.mark.parametrize("schedule", ["@daily", "@daily @win(after,2h)", "0 3 * * MON-FRI"])
def test_settings_follow_any_schedule(schedule: str) -> None:
    assert job("name=backup", schedule).name == "backup"


@pytest.mark.parametrize("key", IN_LINES)
def test_every_setting_can_be_set(key: str) -> None:
    assert job(f"{key}=x").settings == ((key, "x"),)


def test_the_standard_input_of_a_job_can_be_set() -> None:
    assert setting('stdin="hello"', "stdin") == "hello"


def test_the_environment_may_be_set_several_times_in_order() -> None:
    read = job('env=A=1 name=x env="B=two words" env=A=3')

    assert [value for key, value in read.settings if key == "env"] == ["A=1", "B=two words", "A=3"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("echo", "echo"),
        ('"echo hello"', "echo hello"),
        ('""', ""),
        ("", ""),
        ('"say \\"hi\\""', 'say "hi"'),
        ('"back\\\\slash"', "back\\slash"),
        ("back\\slash", "back\\slash"),
        ("a=b=c", "a=b=c"),
        ('"a=b; c, (d) @e # f"', "a=b; c, (d) @e # f"),
        ("'single'", "'single'"),
        ("größe", "größe"),
        ('"two\nlines"', "two\nlines"),
    ],
)
def test_double_quotes_hold_a_value_together(written: str, meant: str) -> None:
    assert setting(f"command={written} name=x", "command") == meant


@pytest.mark.parametrize("rest", ["name=a  command=b", " name=a\tcommand=b ", "name=a command=b\t"])
def test_blanks_between_settings_do_not_matter(rest: str) -> None:
    assert job(rest).settings == (("name", "a"), ("command", "b"))


def test_a_tab_in_a_quoted_value_is_kept() -> None:
    assert setting('command="printf a\tb"', "command") == "printf a\tb"


# --- identity ---------------------------------------------------------------------------------------------------------


def test_the_identity_is_the_name_unless_it_is_given() -> None:
    line = "0 3 * * * name=backup"

    assert Job.parse(line).identity == "backup"
    assert Job.parse(line, identity="prod/backup").identity == "prod/backup"


@pytest.mark.parametrize(
    ("setting", "modifier"), [("deadline=1m", "@policy(…)"), ("window=after,1h", "@win(…)"), ("timezone=UTC", "@tz(…)")]
)
def test_a_modifier_is_no_setting(setting: str, modifier: str) -> None:
    assert refusal(f"name=x {setting}").fix == f"write {modifier} after the schedule"


def test_a_line_that_nothing_identifies_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError):
        Job.parse("0 3 * * * command=x")


def test_a_job_without_a_name_has_an_empty_one() -> None:
    assert job("command=x").name == ""


def test_the_dialect_is_that_of_the_caller() -> None:
    with pytest.raises(InvalidCronExpressionError):
        Job.parse("@daily name=x", identity="test/job", dialect="posix")


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rest", "reason", "offset"),
    [
        ("name=x /usr/bin/backup", "needs KEY=VALUE", 7),
        ("name=x command=echo hello", "needs KEY=VALUE", 20),
        ('name=x "command"', "needs KEY=VALUE", 7),
        ("name=x  hello", "needs KEY=VALUE", 8),
        ("name=x =x", "needs KEY=VALUE", 7),
    ],
)
def test_a_word_that_is_no_setting_is_refused_at_its_position(rest: str, reason: str, offset: int) -> None:
    error = refusal(rest)

    assert (error.field, error.reason) == ("settings", reason)
    assert error.position == len(SCHEDULE) + 1 + offset


@pytest.mark.parametrize("key", [key for key in IN_LINES if key not in REPEATABLE])
def test_a_setting_that_is_no_list_may_be_said_once(key: str) -> None:
    error = refusal(f"{key}=a {key}=a")

    assert (error.field, error.reason) == (key, "is said twice")


@pytest.mark.parametrize(
    "rest",
    [
        "@window(after,2h) name=x",
        "@win(after,2h) @win(after,2h) name=x",
        "@win(after,2h)name=x",
        "@win(after name=x",
        "@win(before,2h) name=x",
        "@policy(deadline=1) name=x",
        "name=x @win(after,2h)",
        'name="x',
    ],
)
def test_a_mistake_anywhere_in_the_line_is_refused(rest: str) -> None:
    assert refusal(rest).message


@pytest.mark.parametrize("rest", ["@win(before,2h) name=x", "@policy(deadline=1) name=x", "@policy(late=yes) name=x"])
def test_a_mistake_in_a_modifier_is_pointed_at(rest: str) -> None:
    assert refusal(rest).position == len(SCHEDULE) + 1


def test_a_quote_that_is_not_closed_is_pointed_at() -> None:
    assert refusal('name="x').position == len(SCHEDULE) + 1 + len("name=")


def test_a_megabyte_of_settings_is_refused_and_not_repeated() -> None:
    assert len(str(refusal("env=A " * 200_000))) < 500


# --- printing ---------------------------------------------------------------------------------------------------------


def test_a_job_prints_as_its_line() -> None:
    line = '0 3 * * * @tz(Europe/Paris) @win(after,2h) @policy(deadline=1h) name=backup command="/bin/b -q" env=A=1'

    assert Job.parse(line, identity="test/job").to_line() == line.replace("env=A=1", 'env="A=1"')


@given(definitions(), st.sampled_from(Concurrency), st.booleans(), settings_lists)
def test_a_line_that_was_printed_names_the_same_job(
    definition: dict[str, object],
    concurrency: Concurrency,
    suspend: bool,  # noqa: FBT001 # drawn by hypothesis
    settings: list[tuple[str, str]],
) -> None:
    timing = Timing.from_dict(definition, identity="test/job")
    original = Job(timing, Policy(concurrency, timedelta(minutes=5), suspend), tuple(settings))

    assert Job.parse(original.to_line(), identity="test/job") == original


@pytest.mark.parametrize(("rest", "key", "meant"), [("name=x usr=bob", "usr", "user"), ("NAME=x", "NAME", "name")])
def test_an_unknown_setting_is_named_and_answered_with_the_nearest(rest: str, key: str, meant: str) -> None:
    error = refusal(rest)

    assert (error.field, error.reason, error.fix) == (key, "is not a key of a line", f"did you mean {meant}?")


def test_of_several_wrong_settings_the_first_is_raised_with_the_others_beside_it() -> None:
    error = refusal("name=x usr=bob name=y window=after")

    assert [each.details["field"] for each in error.all_errors] == ["usr", "name", "window"]
