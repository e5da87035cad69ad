"""Decisions as JSON: complete, equal when read back, and refused with the field's name when invalid."""

import json
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kron import Decision, Timing, decide
from kron.cron.zone import tzdata_release
from kron.decision.decide import replay
from kron.errors import InvalidDecisionError
from kron.instant import parse_instant
from tests.decision.strategies import definitions, identities, nominals

Record = dict[str, Any]
FIELDS = (
    *("identity", "period_id", "period_key", "nominal_time", "window_start", "window_end", "window_mode"),
    *("chosen_time", "timezone", "distribution", "seed_strategy", "salt", "seed_hash", "constraints_applied"),
    *("attempts", "reason", "algorithm_version", "tzdata_version"),
)
LINE = (
    "0 8 * * * @tz(Europe/Paris) @win(around,90m) @dist(normal,sigma=10m) @seed(daily,salt=prod) "
    "@only(dow=MON-FRI;between=07:00-09:00) @avoid(date=2026-12-25)"
)
MORNING = decide(Timing.parse(LINE, identity="test/mörning"), parse_instant("2026-03-02T07:00:00Z"))

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)


def record(**changes: object) -> Record:
    return {**MORNING.to_dict(), **changes}


def refused_field(given: Record) -> object:
    with pytest.raises(InvalidDecisionError) as caught:
        Decision.from_json(json.dumps(given))
    return caught.value.details["field"]


# --- writing and reading ----------------------------------------------------------------------------------------------


def test_a_decision_has_all_that_is_needed_to_make_it_again() -> None:
    assert tuple(json.loads(MORNING.to_json())) == FIELDS


def test_a_decision_is_one_line_of_text_as_people_wrote_it() -> None:
    text = MORNING.to_json()

    assert "\n" not in text
    assert "test/mörning" in text


def test_a_decision_states_every_parameter_of_its_distribution() -> None:
    assert MORNING.to_dict()["distribution"] == {"name": "normal", "params": {"mu": "nominal", "sigma": "10m"}}


def test_a_decision_that_was_read_back_is_equal() -> None:
    assert Decision.from_json(MORNING.to_json()) == MORNING


@given(definitions(), identities, nominals)
def test_json_and_back_is_the_identity(definition: dict[str, object], identity: str, nominal: datetime) -> None:
    decision = decide(Timing.from_dict(definition, identity=identity), nominal)

    read = Decision.from_json(decision.to_json())

    assert read == decision
    assert read.to_json() == decision.to_json()
    assert replay(read) == decision


def test_fields_that_others_have_added_are_ignored() -> None:
    assert Decision.from_dict(record(name="morning", suspended=True)) == MORNING


def test_the_order_of_the_fields_does_not_matter() -> None:
    assert Decision.from_dict(dict(reversed(record().items()))) == MORNING


def test_an_instant_may_be_written_in_another_offset() -> None:
    assert Decision.from_dict(record(nominal_time="2026-03-02T08:00:00+01:00")) == MORNING


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "null", "[]", '"text"', "5", "{", "{'a': 1}", "nan", "[" * 100_000, "9" * 5000])
def test_a_text_that_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidDecisionError) as caught:
        Decision.from_json(text)

    assert caught.value.details["field"] == "text"


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_is_missing_is_named(field: str) -> None:
    given = record()
    del given[field]

    assert refused_field(given) == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[(field, wrong) for field in FIELDS for wrong in (5.5, True, [], ["x"])],
        *[(field, None) for field in FIELDS if field not in ("chosen_time", "reason")],
        ("nominal_time", "2026-03-02"),
        ("nominal_time", "2026-03-02T07:00:00"),
        ("nominal_time", "2026-02-30T07:00:00Z"),
        ("window_start", "yesterday"),
        ("window_end", "10000-01-01T00:00:00Z"),
        ("window_mode", "before"),
        ("window_mode", "AROUND"),
        ("chosen_time", ""),
        ("timezone", "Europe/Pariss"),
        ("timezone", ""),
        ("distribution", {"name": "gauss", "params": {}}),
        ("distribution", {"name": "normal", "params": {"mu": "nominal", "sigma": "-10m"}}),
        ("distribution", {"name": "normal", "params": {"shape": 2.0}}),
        ("distribution", {"name": "normal", "parameters": {}}),
        ("seed_strategy", "hourly"),
        ("constraints_applied", {"only": ["dow=FRI-MON"], "avoid": []}),
        ("constraints_applied", {"only": 5, "avoid": []}),
        ("constraints_applied", {"only": [], "never": []}),
        ("attempts", -1),
        ("attempts", "1"),
        ("algorithm_version", 2),
        ("algorithm_version", 0),
        ("algorithm_version", "1"),
    ],
    ids=ascii,
)
def test_a_field_of_another_type_or_value_is_named(field: str, value: object) -> None:
    assert refused_field(record(**{field: value})) == field


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"period_id": "2026-03-02T08:00:00Z"}, "period_id"),
        ({"period_id": "2026-03-02T08:00:00+01:00"}, "period_id"),
        ({"window_start": "2026-03-02T07:45:01Z"}, "window_start"),
        ({"window_end": "2026-03-02T06:00:00Z"}, "window_start"),
        ({"window_end": "2026-03-02T07:46:00Z"}, "window_start"),
        ({"window_mode": "after"}, "window_start"),
    ],
    ids=str,
)
def test_fields_that_contradict_each_other_are_refused(changes: Record, field: str) -> None:
    assert refused_field(record(**changes)) == field


def test_the_message_names_the_field_and_says_what_is_wrong() -> None:
    with pytest.raises(InvalidDecisionError) as caught:
        Decision.from_dict(record(attempts="three"))

    assert str(caught.value) == "Invalid decision: attempts must be a whole number, not negative, found 'three'"


@settings(max_examples=200)
@given(st.sampled_from(FIELDS), anything)
def test_no_value_of_a_field_raises_another_error(field: str, value: object) -> None:
    with suppress(InvalidDecisionError):
        assert Decision.from_json(json.dumps(record(**{field: value}))).to_dict().keys() == set(FIELDS)


@settings(max_examples=150)
@given(st.data())
def test_however_the_text_is_cut_and_glued_no_other_error_escapes(data: st.DataObject) -> None:
    text = MORNING.to_json()
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))

    with suppress(InvalidDecisionError):
        Decision.from_json(text[:start] + data.draw(st.text(max_size=5)) + text[end:])


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(["name", "params", "only", "avoid", "mu", "sigma"]), anything), st.booleans())
def test_no_table_raises_another_error(table: Record, is_distribution: bool) -> None:  # noqa: FBT001
    field = "distribution" if is_distribution else "constraints_applied"

    with suppress(InvalidDecisionError):
        Decision.from_json(json.dumps(record(**{field: table})))


# --- replay -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("identity", "test/evening"),
        ("period_key", "2026-03-03"),
        ("chosen_time", "2026-03-02T07:00:00Z"),
        ("timezone", "Asia/Tokyo"),
        ("distribution", {"name": "uniform", "params": {}}),
        ("seed_strategy", "weekly"),
        ("salt", "test"),
        ("seed_hash", "0" * 64),
        ("constraints_applied", {"only": ["hours=3"], "avoid": []}),
        ("attempts", 2),
    ],
)
def test_a_decision_that_was_altered_is_not_what_its_replay_gives(field: str, value: object) -> None:
    altered = Decision.from_dict(record(**{field: value}))

    assert replay(altered) != altered


def test_the_replay_of_an_altered_choice_gives_the_right_one() -> None:
    altered = Decision.from_dict(record(chosen_time="2026-03-02T07:00:00Z", attempts=9))

    assert replay(altered) == MORNING


def test_a_replay_states_the_version_of_the_database_that_it_was_made_with() -> None:
    assert replay(Decision.from_dict(record(tzdata_version="1999z"))).tzdata_version == tzdata_release()
