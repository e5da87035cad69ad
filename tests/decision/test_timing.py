"""Timings: equivalent texts parse to equal timings, and every timing prints as text that parses back."""

import tomllib
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from kron import Schedule, Timing
from kron.decision.constraint import Clauses, Constraints
from kron.decision.distribution import Distribution
from kron.decision.line import quote
from kron.decision.seed import Seed, SeedStrategy
from kron.decision.window import Window, WindowMode
from tests.decision.strategies import definitions, texts

LINE = (
    "0 0 * * * @tz(Europe/Paris) @dst(gap=shift,repeated=first) @win(after,2h) @dist(skewLate,shape=2.5) "
    "@seed(daily,salt=prod) @only(dow=MON-FRI;between=08:00-20:00) @avoid(date=2026-12-25)"
)
TOML_TEXTS = """
    schedule = "0 0 * * *"
    timezone = "Europe/Paris"
    gap = "shift"
    repeated = "first"
    window = "after,2h"
    distribution = "skewLate,shape=2.5"
    seed = "daily,salt=prod"
    only = "dow=MON-FRI;between=08:00-20:00"
    avoid = "date=2026-12-25"
"""
TOML_TABLES = """
    schedule = "0 0 * * *"
    timezone = "Europe/Paris"
    dialect = "extended"
    gap = "shift"
    repeated = "first"
    window = {mode = "after", duration = "2h"}
    distribution = {name = "skewLate", params = {shape = 2.5}}
    seed = {strategy = "daily", salt = "prod"}
    only = {dow = ["MON-FRI"], between = ["08:00-20:00"]}
    avoid = {date = "2026-12-25"}
"""
TOML_SALT_BESIDE = TOML_TEXTS.replace('seed = "daily,salt=prod"', 'seed = "daily"\n salt = "prod"')
TOML_MODIFIERS = f"schedule = '{LINE}'"
TOML_HALF_AND_HALF = """
    schedule = "0 0 * * * @tz(Europe/Paris) @dst(gap=shift) @seed(daily) @avoid(date=2026-12-25)"
    repeated = "first"
    window = {duration = "120m"}
    distribution = "skewLate,shape=2.5"
    salt = "prod"
    only = ["dow=MON-FRI", "between=08:00-20:00"]
"""
KRONJOB: dict[str, object] = {
    "schedule": "0 0 * * *",
    "timeZone": "Europe/Paris",
    "gap": "shift",
    "repeated": "first",
    "window": {"mode": "after", "duration": "2h"},
    "distribution": {"name": "skewLate", "params": {"shape": 2.5}},
    "seed": {"strategy": "daily", "salt": "prod"},
    "constraints": {"only": ["dow=MON-FRI", "between=08:00-20:00"], "avoid": ["date=2026-12-25"]},
}
JOB = Timing(
    "test/job",
    Schedule("0 0 * * *", "Europe/Paris", repeated="first", gap="shift"),
    Window(WindowMode.AFTER, timedelta(hours=2)),
    Distribution("skewLate", {"shape": 2.5}),
    Seed(SeedStrategy.DAILY, "prod"),
    Constraints(
        Clauses({"dow": ("MON-FRI",), "between": ("08:00-20:00",)}),
        Clauses({"date": ("2026-12-25",)}),
    ),
)


def timing(given: str | dict[str, object]) -> Timing:
    if isinstance(given, str):
        return Timing.parse(given, identity="test/job")
    return Timing.from_dict(given, identity="test/job")


# --- one thing, several texts -----------------------------------------------------------------------------------------


def test_a_line_names_the_timing() -> None:
    assert timing(LINE) == JOB


@pytest.mark.parametrize(
    "toml",
    [TOML_TEXTS, TOML_TABLES, TOML_SALT_BESIDE, TOML_MODIFIERS, TOML_HALF_AND_HALF],
    ids=["texts", "tables", "salt beside the seed", "modifiers in the schedule", "half and half"],
)
def test_a_toml_table_names_the_same_timing(toml: str) -> None:
    assert timing(tomllib.loads(toml)) == JOB


def test_the_spec_of_a_kronjob_names_the_same_timing() -> None:
    assert timing(KRONJOB) == JOB


def test_equal_timings_hash_alike() -> None:
    assert hash(timing(LINE)) == hash(timing(KRONJOB)) == hash(JOB)


def test_the_defaults_of_a_kronjob_written_out_are_the_defaults() -> None:
    written_out: dict[str, object] = {
        "schedule": "@daily",
        "timeZone": "UTC",
        "gap": "skip",
        "repeated": "both",
        "window": {"mode": "after", "duration": "0s"},
        "distribution": {"name": "uniform"},
        "seed": {"strategy": "stable", "salt": ""},
        "constraints": {},
    }

    assert timing(written_out) == timing("@daily")


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("0 0 * * * @win(around,90s)", {"window": {"mode": "around", "duration": "1m30s"}}),
        ("0 0 * * * @win(after,250ms)", {"window": {"duration": "0.25s"}}),
        (
            "0 0 * * * @dist(exponential,lambda=3,dir=late)",
            {"distribution": {"name": "exponential", "params": {"dir": "late", "lambda": 3}}},
        ),
        (
            "0 0 * * * @dist(normal,mu=end,sigma=10m)",
            {"distribution": {"name": "normal", "params": {"mu": "end", "sigma": "600s"}}},
        ),
        ("0 0 * * * @seed(weekly)", {"seed": {"strategy": "weekly"}}),
        ("0 0 * * * @seed(salt=x)", {"salt": "x"}),
        ("0 0 * * * @seed(salt=x,strategy=daily)", {"seed": {"strategy": "daily", "salt": "x"}}),
        ("0 0 * * * @only(hours=9,10)", {"only": {"hours": [9, 10]}}),
        ("0 0 * * * @avoid(hours=9;hours=10)", {"avoid": ["hours=9", "hours=10"]}),
        ("0 0 * * * @avoid(hours=9,10)", {"constraints": {"avoid": "hours=9,10"}}),
    ],
)
def test_each_modifier_has_its_table(text: str, table: dict[str, object]) -> None:
    assert timing({"schedule": "0 0 * * *", **table}) == timing(text)


def test_the_dialect_may_be_said_in_both_ways() -> None:
    by_argument = Timing.parse("0 0 * * 1", identity="test/job", dialect="posix")

    assert Timing.from_dict({"schedule": "0 0 * * 1", "dialect": "posix"}, identity="test/job") == by_argument
    assert by_argument.schedule.expression.dialect.name == "posix"


def test_clauses_in_another_order_are_the_same_timing() -> None:
    assert timing("@daily @only(hours=9;dow=MON)") == timing("@daily @only(dow=MON;hours=9)")


def test_the_order_of_values_is_a_difference_only_of_spelling_that_is_kept() -> None:
    assert timing("@daily @only(hours=10,9)").to_line() == "@daily @only(hours=10,9)"


# --- printing ---------------------------------------------------------------------------------------------------------


def test_a_timing_prints_as_the_line_it_came_from() -> None:
    assert JOB.to_line() == LINE


def test_a_timing_of_defaults_prints_as_its_expression_alone() -> None:
    assert timing("0 3 * * MON @tz(UTC) @win(after,0s) @seed(stable) @dist(uniform)").to_line() == "0 3 * * MON"


def test_a_timing_prints_its_structured_form_with_every_key() -> None:
    assert JOB.to_dict() == {
        "schedule": "0 0 * * *",
        "timezone": "Europe/Paris",
        "dialect": "extended",
        "gap": "shift",
        "repeated": "first",
        "window": {"mode": "after", "duration": "2h"},
        "distribution": {"name": "skewLate", "params": {"shape": 2.5}},
        "seed": {"strategy": "daily", "salt": "prod"},
        "only": ["dow=MON-FRI", "between=08:00-20:00"],
        "avoid": ["date=2026-12-25"],
    }


@given(definitions(), texts)
def test_a_line_that_was_printed_names_the_same_timing(definition: dict[str, object], salt: str) -> None:
    salted = timing({**definition, "seed": {"strategy": "daily", "salt": salt}})

    assert timing(salted.to_line()) == salted


@given(definitions())
def test_a_structured_form_that_was_printed_names_the_same_timing(definition: dict[str, object]) -> None:
    original = timing(definition)

    assert timing(original.to_dict()) == original


@given(texts)
def test_a_salt_of_any_characters_survives_the_line(salt: str) -> None:
    salted = timing({"schedule": "@daily", "salt": salt})

    assert timing(salted.to_line()).seed.salt == salt


@pytest.mark.parametrize("salt", ["\n", "a\n", "\ra", "\u00a0a", "a\u2003", "\x0b", "\x1f", "\x85"], ids=ascii)
def test_a_salt_that_begins_or_ends_with_another_blank_survives_the_line(salt: str) -> None:
    salted = timing({"schedule": "@daily", "salt": salt})

    assert timing(salted.to_line()).seed.salt == salt


@pytest.mark.parametrize("salt", ["a\nb", "a\u00a0b", "a\tb", " a ", "\t"], ids=ascii)
def test_a_salt_with_blanks_inside_or_in_quotes_survives_the_line(salt: str) -> None:
    assert timing(f"@daily @seed(stable,salt={quote(salt)})").seed.salt == salt


@given(st.floats(5e-324, 1.7e308))
def test_a_number_survives_both_forms_to_the_last_bit(shape: float) -> None:
    skewed = timing({"schedule": "@daily", "distribution": {"name": "skewEarly", "params": {"shape": shape}}})

    assert timing(skewed.to_line()).distribution.params["shape"] == shape
    assert timing(skewed.to_dict()).distribution.params["shape"] == shape
