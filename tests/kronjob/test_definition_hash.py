"""definitionHash changes exactly with the fields that decide about periods."""

import json
from hashlib import sha256
from typing import Any

import pytest

from kron.kronjob.spec_fields import definition_hash
from tests.kronjob.kronjob_documents import document

MATERIALISED = {
    "schedule": "0 0 * * *",
    "timeZone": "UTC",
    "gap": "skip",
    "repeated": "both",
    "window": {"mode": "after", "duration": "0s"},
    "distribution": {"name": "uniform", "params": {}},
    "seed": {"strategy": "stable", "salt": ""},
    "constraints": {"only": [], "avoid": []},
    "policy": {"concurrency": "forbid", "deadline": "0s"},
}


def of(**spec: Any) -> str:
    return definition_hash(document(**spec)["spec"])


def test_the_definition_hash_is_that_of_canonical_json_with_defaults() -> None:
    text = json.dumps(MATERIALISED, sort_keys=True, separators=(",", ":"))

    assert of() == sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "spec",
    [
        {"jobTemplate": {"spec": {"backoffLimit": 1}}},
        {"policy": {"suspend": True}},
        {"successfulJobsHistoryLimit": 9},
        {"failedJobsHistoryLimit": 9},
        MATERIALISED,
    ],
)
def test_a_field_that_decides_nothing_does_not_change_the_hash(spec: dict[str, Any]) -> None:
    assert of(**spec) == of()


@pytest.mark.parametrize(
    "spec",
    [
        {"schedule": "1 0 * * *"},
        {"timeZone": "Europe/Paris"},
        {"gap": "shift"},
        {"window": {"duration": "1h"}},
        {"distribution": {"name": "skewLate"}},
        {"seed": {"salt": "ä"}},
        {"constraints": {"avoid": ["hours=1"]}},
        {"policy": {"deadline": "1h"}},
        {"policy": {"concurrency": "allow"}},
        {"window": "wrong"},
    ],
)
def test_a_deciding_field_changes_the_hash_also_where_it_is_invalid(spec: dict[str, Any]) -> None:
    assert of(**spec) != of()


def test_a_number_has_one_spelling() -> None:
    two: Any = {"name": "skewLate", "params": {"shape": 2}}

    assert of(distribution=two) == of(distribution={"name": "skewLate", "params": {"shape": 2.0}})
