"""All errors in one value are reported, and an unknown key gets the suggestion of a known one."""

import pytest

from tests.jobfile.job_sets import read, table

SEVERAL = {
    'schedule = "61 25 32 13 8"': ["jobs.x.schedule"] * 5,
    'schedule = "0 0 L * ?"': ["jobs.x.schedule"] * 2,
    'schedule = "@daily @policy(deadline=1,concurrency=no,x=1)"': ["jobs.x.schedule"] * 3,
    'schedule = "@daily @only(dow=FRY;hours=99;months)"': ["jobs.x.schedule"] * 3,
    'schedule = "@daily @dst(gap=x,repeated=y)"': ["jobs.x.schedule"] * 2,
    'schedule = "61 * * * * @win(aftr,soon) @dist(normal,mu=x,sigma=0)"': ["jobs.x.schedule"] * 5,
    'window = {mode = "aftr", duration = 3, foo = 1}': [
        "jobs.x.window.foo",
        "jobs.x.window.mode",
        "jobs.x.window.duration",
    ],
    'avoid = {hours = [25], months = ["FOO"], dates = ["x"], dow = []}': [
        "jobs.x.avoid.dow",
        "jobs.x.avoid.hours",
        "jobs.x.avoid.months",
        "jobs.x.avoid.dates",
    ],
    'only = {dow = ["MON-FRY"], betwen = ["08:00-20:00"]}': ["jobs.x.only.dow", "jobs.x.only.betwen"],
    'seed = {strategy = "dayly", salt = 3}': ["jobs.x.seed.strategy", "jobs.x.seed.salt"],
    'seed = "dayly,pepper=x"': ["jobs.x.seed"] * 2,
    'distribution = {name = "normal", params = {mu = "x", sigma = 4}, x = 1}': [
        "jobs.x.distribution.x",
        "jobs.x.distribution.params.mu",
        "jobs.x.distribution.params.sigma",
    ],
    'on_failure = ["a \'b", "http://", 3, []]': ["jobs.x.on_failure"] * 4,
}


@pytest.mark.parametrize(("key", "fields"), SEVERAL.items(), ids=SEVERAL.keys())
def test_every_error_in_one_value_is_reported(key: str, fields: list[str]) -> None:
    assert [finding.field for finding in read(table(key)).findings] == fields


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("tz", "did you mean timezone?"),
        ("dist", "did you mean distribution?"),
        ("workdir", "did you mean cwd?"),
        ("environment", "did you mean env?"),
        ("enabled", "did you mean suspend?"),
        ("disabled", "did you mean suspend?"),
        ("cmd", "did you mean command?"),
        ("Command", "did you mean command?"),
        ("policy", "did you mean concurrency, deadline or suspend?"),
        ("xyzzy", "the nearest one is retry_delay"),
    ],
)
def test_an_unknown_key_is_answered_with_what_it_is_called_here_or_with_the_nearest(key: str, meant: str) -> None:
    (finding,) = [found for found in read(table(f"{key} = 1")).findings if found.field == f"jobs.x.{key}"]

    assert finding.fix == meant


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("tz", "did you mean timezone?"),
        ("retain", "did you mean retention?"),
        ("port", "did you mean listen?"),
        ("slak", "did you mean slack?"),
        ("xyzzy", "the nearest one is timezone"),
    ],
)
def test_an_unknown_key_of_krond_is_answered_in_the_same_way(key: str, meant: str) -> None:
    (finding,) = read(f"[krond]\n{key} = 1").findings

    assert finding.fix == meant


def test_an_unknown_parameter_is_answered_with_the_nearest() -> None:
    (finding,) = read(table('distribution = {name = "skewLate", params = {shpe = 2.5}}')).findings

    assert (finding.field, finding.fix) == ("jobs.x.distribution.params.shpe", "did you mean shape?")
