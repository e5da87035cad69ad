"""Decisions as JSON: records that Kron cannot have written are refused."""

import json
from typing import Any

import pytest

from kron import Decision, Timing, decide
from kron.decision.decide import candidates, replay
from kron.errors import InvalidDecisionError
from kron.instant import parse_instant

MIDNIGHT = decide(Timing.parse("@daily @win(after,2h)", identity="test/job"), parse_instant("2026-03-01T00:00:00Z"))


def read(**changes: Any) -> Decision:
    return Decision.from_json(json.dumps({**MIDNIGHT.to_dict(), **changes}))


@pytest.mark.parametrize("field", ["identity", "salt"])
def test_a_text_that_utf_8_cannot_hold_is_refused_before_it_can_be_replayed(field: str) -> None:
    with pytest.raises(InvalidDecisionError):
        replay(read(**{field: "\ud800"}))


@pytest.mark.parametrize("seed_hash", ["", "not hex", "zz" * 32])
def test_a_seed_hash_that_is_none_is_refused_before_its_candidates_are_shown(seed_hash: str) -> None:
    with pytest.raises(InvalidDecisionError):
        list(candidates(read(seed_hash=seed_hash)))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"identity": ""}, "identity"),
        ({"identity": "two\nlines"}, "identity"),
        ({"attempts": 65}, "attempts"),
        ({"attempts": 10**30}, "attempts"),
        ({"chosen_time": None}, "reason"),
        ({"reason": "no candidate accepted within MaxAttempts"}, "reason"),
        ({"chosen_time": "2026-03-01T02:00:01Z"}, "chosen_time"),
        ({"chosen_time": "2026-02-28T23:59:59Z"}, "chosen_time"),
        ({"chosen_time": "2026-03-01T01:00:00.5Z"}, "chosen_time"),
        ({"nominal_time": "2026-03-01T00:00:00.5Z"}, "nominal_time"),
        ({"window_start": "2026-03-01T00:00:00.5Z"}, "window_start"),
        ({"window_end": "2026-03-01T02:00:00.5Z"}, "window_end"),
        ({"algorithm_version": 1.0}, "algorithm_version"),
        ({"distribution": "uniform"}, "distribution"),
        ({"distribution": {}}, "distribution"),
        ({"distribution": {"name": "normal", "params": {}}}, "distribution"),
        ({"distribution": {"name": "exponential", "params": {"lambda": 2.0}}}, "distribution"),
        ({"constraints_applied": {}}, "constraints_applied"),
        ({"constraints_applied": {"only": "dow=SUN", "avoid": []}}, "constraints_applied"),
        ({"seed_hash": MIDNIGHT.seed_hash.upper()}, "seed_hash"),
        ({"seed_hash": MIDNIGHT.seed_hash[:16]}, "seed_hash"),
    ],
    ids=str,
)
def test_a_record_that_no_decision_could_have_written_is_refused_with_its_field(
    changes: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidDecisionError) as caught:
        read(**changes)

    assert caught.value.details["field"] == field


@pytest.mark.parametrize("field", ["salt", "attempts", "window_mode", "algorithm_version", "constraints_applied"])
def test_a_value_of_a_megabyte_is_not_repeated_in_the_message(field: str) -> None:
    with pytest.raises(InvalidDecisionError) as caught:
        read(**{field: ["x" * 1_000_000]})

    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("field", "around"),
    [
        ("window_mode", "HERE"),
        ("distribution", {"name": "normal", "params": {"mu": "HERE", "sigma": "10m"}}),
        ("constraints_applied", {"only": ["HERE"], "avoid": []}),
    ],
)
def test_a_value_of_any_depth_is_refused(field: str, around: object) -> None:
    text = json.dumps({**MIDNIGHT.to_dict(), field: around})

    for depth in range(700, 1000):
        with pytest.raises(InvalidDecisionError):
            Decision.from_json(text.replace('"HERE"', '{"a":' * depth + "1" + "}" * depth))
