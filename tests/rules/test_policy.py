"""Policies: lateness, overlap and suspension, parsed from a line or a table, and printed."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from kron import Policy
from kron.decision.line import parse_line
from kron.errors import InvalidDefinitionError
from kron.rules.policy import Concurrency

policies = st.builds(
    Policy, st.sampled_from(Concurrency), st.timedeltas(timedelta(), timedelta(days=400)), st.booleans()
)


def policy(arguments: str) -> Policy:
    return Policy.from_line(parse_line(f"@daily @policy({arguments})"))


def refusal(given: str | dict[str, object]) -> InvalidDefinitionError:
    with pytest.raises(InvalidDefinitionError) as caught:
        policy(given) if isinstance(given, str) else Policy.from_dict(given)
    return caught.value


# --- reading ----------------------------------------------------------------------------------------------------------


def test_without_a_policy_runs_do_not_overlap_may_not_be_late_and_are_not_suspended() -> None:
    usual = Policy.from_line(parse_line("@daily"))

    assert usual == Policy() == Policy.from_dict({})
    assert usual == Policy(Concurrency.FORBID, timedelta(), suspend=False)


@pytest.mark.parametrize(
    ("arguments", "table"),
    [
        ("concurrency=allow", {"concurrency": "allow"}),
        ("concurrency=forbid", {"concurrency": "forbid"}),
        ("concurrency=replace", {"concurrency": "replace"}),
        ("deadline=10m", {"deadline": "600s"}),
        ("deadline=0s", {"deadline": "0"}),
        ("suspend=true", {"suspend": True}),
        ("suspend=false", {"suspend": False}),
        (" deadline = 1h , concurrency = allow ", {"concurrency": "allow", "deadline": "1h"}),
    ],
)
def test_a_modifier_and_a_table_name_the_same_policy(arguments: str, table: dict[str, object]) -> None:
    assert policy(arguments) == Policy.from_dict(table)


def test_the_order_of_the_words_is_free() -> None:
    assert policy("suspend=true,deadline=1m,concurrency=allow") == policy("concurrency=allow,deadline=1m,suspend=true")


# --- printing ---------------------------------------------------------------------------------------------------------


def test_a_policy_of_defaults_prints_no_modifier() -> None:
    assert Policy().modifiers() == []


def test_only_what_differs_from_the_defaults_is_printed() -> None:
    late = Policy(deadline=timedelta(minutes=90), suspend=True)

    assert late.modifiers() == ["@policy(deadline=1h30m,suspend=true)"]


def test_the_table_has_every_key() -> None:
    assert Policy().to_dict() == {"concurrency": "forbid", "deadline": "0s", "suspend": False}


@given(policies)
def test_a_modifier_that_was_printed_names_the_same_policy(given: Policy) -> None:
    assert Policy.from_line(parse_line(" ".join(["@daily", *given.modifiers()]))) == given


@given(policies)
def test_a_table_that_was_printed_names_the_same_policy(given: Policy) -> None:
    assert Policy.from_dict(given.to_dict()) == given


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ("concurrency=never", "policy.concurrency", "must be one of allow, forbid, replace"),
        ("concurrency=Allow", "policy.concurrency", "must be one of allow, forbid, replace"),
        ("concurrency=", "policy.concurrency", "must be one of allow, forbid, replace"),
        ("deadline=10", "policy.deadline", "no number with a unit at '10'"),
        ("deadline=-10m", "policy.deadline", "must not be negative"),
        ("deadline=", "policy.deadline", "must not be empty"),
        ("suspend=yes", "policy.suspend", "must be true or false"),
        ("suspend=True", "policy.suspend", "must be true or false"),
        ("suspend=", "policy.suspend", "must be true or false"),
        ("deadlines=10m", "policy", "must be one of concurrency, deadline, suspend"),
        ("", "policy", "needs KEY=VALUE"),
        ("forbid", "policy", "needs KEY=VALUE"),
        ("deadline=1m,", "policy", "needs KEY=VALUE"),
        ("=allow", "policy", "needs KEY=VALUE"),
        ("deadline=1m,deadline=1m", "policy.deadline", "is said twice"),
    ],
)
def test_a_bad_word_is_refused_at_the_modifier_with_its_field_and_reason(given: str, field: str, reason: str) -> None:
    error = refusal(given)

    assert (error.field, error.reason) == (field, reason)
    assert error.position == len("@daily ")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"concurrency": None}, "policy.concurrency"),
        ({"concurrency": ["allow"]}, "policy.concurrency"),
        ({"deadline": 600}, "policy.deadline"),
        ({"deadline": None}, "policy.deadline"),
        ({"deadline": True}, "policy.deadline"),
        ({"suspend": "true"}, "policy.suspend"),
        ({"suspend": 1}, "policy.suspend"),
        ({"suspend": None}, "policy.suspend"),
        ({"retries": 3}, "policy"),
    ],
    ids=str,
)
def test_a_bad_value_in_a_table_is_refused_with_its_field(given: dict[str, object], field: str) -> None:
    assert refusal(given).field == field


@pytest.mark.parametrize("given", [None, "forbid", 5, ["allow"]], ids=str)
def test_a_policy_must_be_a_table(given: object) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Policy.from_dict(given)  # type: ignore[arg-type] # on purpose

    assert caught.value.field == "policy"


def test_a_word_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    assert refusal("deadlines=10m").fix == "did you mean deadline?"
    assert refusal("concurrency=Replace").fix == "did you mean replace?"
