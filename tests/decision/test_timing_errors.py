"""Timings: an unknown, repeated or wrongly typed key of a structured definition is one error that names it."""

import pytest
from hypothesis import given, strategies as st

from kron import KronError, Timing
from kron.errors import InvalidCronExpressionError, InvalidDefinitionError, UnknownTimezoneError

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)


def refusal(**parts: object) -> InvalidDefinitionError:
    with pytest.raises(InvalidDefinitionError) as caught:
        Timing.from_dict({"schedule": "0 0 * * *", **parts}, identity="test/job")
    return caught.value


# --- keys -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["Schedule", "tz", "win", "policy", "command", "", "windows"])
def test_an_unknown_key_is_refused_with_the_known_ones(key: str) -> None:
    error = refusal(**{key: "x"})

    assert (error.field, error.found) == ("key", key)
    assert error.reason.startswith("must be one of schedule, timezone, ")


@pytest.mark.parametrize(("key", "meant"), [("windows", "window"), ("time_zone", "timezone"), ("dailect", "dialect")])
def test_a_key_that_is_nearly_right_is_answered_with_the_right_one(key: str, meant: str) -> None:
    assert refusal(**{key: "x"}).fix == f"did you mean {meant}?"


def test_a_definition_needs_a_schedule() -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Timing.from_dict({"window": "after,2h"}, identity="test/job")

    assert (caught.value.field, caught.value.reason) == ("schedule", "is required")


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({"window": {"length": "2h"}}, "window"),
        ({"distribution": {"shape": 2.5}}, "distribution"),
        ({"seed": {"pepper": "x"}}, "seed"),
        ({"constraints": {"never": []}}, "constraints"),
        ({"only": {"weekday": "MON"}}, "constraint"),
    ],
    ids=str,
)
def test_an_unknown_key_of_a_table_is_refused_with_the_tables_name(table: dict[str, object], field: str) -> None:
    assert refusal(**table).field == field


# --- said twice -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("modifier", "key", "value"),
    [
        ("@tz(UTC)", "timezone", "UTC"),
        ("@tz(UTC)", "timeZone", "UTC"),
        ("@dst(gap=skip)", "gap", "skip"),
        ("@dst(repeated=both)", "repeated", "both"),
        ("@win(after,0s)", "window", "after,0s"),
        ("@dist(uniform)", "distribution", {"name": "uniform"}),
        ("@seed(stable)", "seed", "stable"),
        ("@seed(stable,salt=x)", "salt", "x"),
        ("@only(hours=9)", "only", {"hours": 9}),
        ("@avoid(hours=9)", "avoid", ["hours=9"]),
        ("@only(hours=9)", "constraints", {"only": ["hours=9"]}),
    ],
)
def test_a_modifier_and_its_key_are_the_same_thing_said_twice(modifier: str, key: str, value: object) -> None:
    error = refusal(**{"schedule": f"@daily {modifier}", key: value})

    assert error.reason.startswith("is said twice")


@pytest.mark.parametrize(
    "parts",
    [
        {"timezone": "UTC", "timeZone": "UTC"},
        {"only": ["hours=9"], "constraints": {"only": ["hours=9"]}},
        {"avoid": "hours=9", "constraints": {"avoid": []}},
        {"salt": "x", "seed": "daily,salt=x"},
        {"salt": "", "seed": {"strategy": "daily", "salt": ""}},
        {"seed": "daily,weekly"},
        {"seed": "daily,salt=x,salt=y"},
        {"distribution": "skewLate,shape=2,shape=2"},
        {"schedule": "@daily @dst(gap=skip,gap=skip)"},
    ],
    ids=str,
)
def test_two_spellings_of_one_thing_are_refused_even_if_they_agree(parts: dict[str, object]) -> None:
    assert refusal(**parts).reason.startswith("is said twice")


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"window": "2h"}, "window"),
        ({"window": ""}, "window"),
        ({"window": 7200}, "window"),
        ({"window": ["after", "2h"]}, "window"),
        ({"window": None}, "window"),
        ({"window": "before,2h"}, "window.mode"),
        ({"window": {"mode": "AFTER"}}, "window.mode"),
        ({"window": {"mode": None}}, "window.mode"),
        ({"window": "after,"}, "window.duration"),
        ({"window": "after,2"}, "window.duration"),
        ({"window": "after,2h,3h"}, "window.duration"),
        ({"window": "after,-2h"}, "window.duration"),
        ({"window": {"duration": 7200}}, "window.duration"),
        ({"window": {"duration": True}}, "window.duration"),
        ({"window": {"duration": None}}, "window.duration"),
        ({"distribution": ""}, "distribution"),
        ({"distribution": 5}, "distribution"),
        ({"distribution": {"name": None}}, "distribution"),
        ({"distribution": "skewLate,2.5"}, "distribution"),
        ({"distribution": "skewLate,=2.5"}, "distribution"),
        ({"distribution": {"name": "skewLate", "params": "shape=2"}}, "distribution.params"),
        ({"distribution": "skewLate,shape="}, "distribution.shape"),
        ({"seed": ""}, "seed.strategy"),
        ({"seed": "hourly"}, "seed.strategy"),
        ({"seed": {"strategy": 5}}, "seed.strategy"),
        ({"seed": ["daily"]}, "seed"),
        ({"seed": {"salt": 5}}, "salt"),
        ({"salt": 5}, "salt"),
        ({"salt": True}, "salt"),
        ({"only": 5}, "only"),
        ({"avoid": None}, "avoid"),
        ({"avoid": 9.5}, "avoid"),
        ({"only": [5]}, "constraint"),
        ({"constraints": ["dow=MON"]}, "constraints"),
        ({"gap": "jump"}, "gap"),
        ({"gap": []}, "gap"),
        ({"repeated": True}, "repeated"),
        ({"dialect": "seconds"}, "dialect"),
        ({"dialect": None}, "dialect"),
    ],
    ids=str,
)
def test_a_value_that_is_not_right_is_refused_with_the_name_of_its_field(parts: dict[str, object], field: str) -> None:
    assert refusal(**parts).field == field


@pytest.mark.parametrize("schedule", [5, None, ["0 0 * * *"], {}], ids=str)
def test_a_schedule_must_be_a_text(schedule: object) -> None:
    assert refusal(schedule=schedule).reason == "must be a text in UTF-8"


def test_a_bare_number_is_not_a_duration_and_the_error_says_so() -> None:
    error = refusal(window={"duration": 7200})

    assert error.reason == "a duration is a text with units, not a bare number"
    assert error.fix == "write it as 1h30m, 90s or 250ms"


@pytest.mark.parametrize(
    "name", ["Europe/Pariss", "europe/paris", "", "Europe", "CEST", "../etc/passwd", "UTC ", 5, None], ids=str
)
def test_an_unknown_zone_is_refused(name: object) -> None:
    with pytest.raises(UnknownTimezoneError):
        Timing.from_dict({"schedule": "@daily", "timezone": name}, identity="test/job")


@pytest.mark.parametrize("name", [[], {}, ["UTC"]], ids=str)
def test_a_zone_that_is_no_text_is_refused(name: object) -> None:
    with pytest.raises(UnknownTimezoneError):
        Timing.from_dict({"schedule": "@daily", "timezone": name}, identity="test/job")


@pytest.mark.parametrize("params", ["", [], 0, False], ids=repr)
def test_parameters_that_are_no_table_are_refused(params: object) -> None:
    assert refusal(distribution={"name": "uniform", "params": params}).field == "distribution.params"


@pytest.mark.parametrize("identity", [None, 5, b"job", ["job"]], ids=str)
def test_an_identity_must_be_a_text(identity: object) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Timing.parse("@daily", identity=identity)  # type: ignore[arg-type] # on purpose

    assert caught.value.field == "identity"


def test_an_extension_is_refused_in_the_posix_dialect() -> None:
    with pytest.raises(InvalidCronExpressionError):
        Timing.parse("@daily @win(after,2h)", identity="test/job", dialect="posix")


@given(
    st.sampled_from(
        ["schedule", "window", "distribution", "seed", "salt", "only", "avoid", "constraints", "gap", "dialect"]
    ),
    anything,
)
def test_no_value_of_a_key_raises_an_error_that_is_not_krons(key: str, value: object) -> None:
    try:
        timing = Timing.from_dict({"schedule": "@daily", key: value}, identity="test/job")
    except KronError:
        return

    assert Timing.from_dict(timing.to_dict(), identity="test/job") == timing
