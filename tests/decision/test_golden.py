"""The recorded decisions are computed again, by Kron and by the reference."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from kron import Decision, decide
from kron.decision.constraint import KINDS
from kron.decision.decide import replay
from kron.decision.distribution import DISTRIBUTIONS
from kron.decision.seed import SeedStrategy
from kron.decision.window import WindowMode
from kron.instant import parse_instant
from tests.decision import reference
from tests.golden.make_decisions import FILE, timing_of

Vector = dict[str, Any]
VECTORS: list[Vector] = json.loads(FILE.read_text(encoding="utf-8"))

each_vector = pytest.mark.parametrize(
    "vector", VECTORS, ids=[ascii(f"{vector['title']} at {vector['nominal']}") for vector in VECTORS]
)


def decision_of(vector: Vector) -> Decision:
    return decide(timing_of(vector), parse_instant(vector["nominal"]))


def without_database_version(decision: Decision) -> dict[str, object]:
    record = decision.to_dict()
    del record["tzdata_version"]
    return record


@each_vector
def test_a_decision_is_what_it_always_was(vector: Vector) -> None:
    decided = without_database_version(decision_of(vector))

    assert json.dumps(decided) == json.dumps(vector["decision"])


@each_vector
def test_the_reference_decides_the_same(vector: Vector) -> None:
    given = vector["line"] if "line" in vector else vector["definition"]

    decided = reference.decide(given, vector["identity"], parse_instant(vector["nominal"]))

    assert json.dumps(decided) == json.dumps(vector["decision"])


@each_vector
def test_a_recorded_decision_is_replayed_to_the_same_second(vector: Vector) -> None:
    record = {**vector["decision"], "tzdata_version": "2026a"}

    replayed = replay(Decision.from_json(json.dumps(record)))

    assert without_database_version(replayed) | {"tzdata_version": "2026a"} == record


@each_vector
def test_json_to_decision_to_json_is_the_identity(vector: Vector) -> None:
    text = json.dumps({**vector["decision"], "tzdata_version": "2026a"}, ensure_ascii=False)

    assert Decision.from_json(text).to_json() == text


@each_vector
def test_the_recorded_time_is_a_nominal_time_of_the_schedule(vector: Vector) -> None:
    nominal = parse_instant(vector["nominal"])

    assert timing_of(vector).schedule.previous(nominal) == nominal


# --- the file covers what there is ------------------------------------------------------------------------------------


def seen(read: Callable[[Vector], object]) -> set[object]:
    return {read(vector) for vector in VECTORS}


def clause_kinds(side: str) -> set[str]:
    clauses = [clause for vector in VECTORS for clause in vector["decision"]["constraints_applied"][side]]
    return {clause.split("=")[0] for clause in clauses}


def test_the_file_has_a_few_hundred_vectors_and_no_two_alike() -> None:
    inputs = [json.dumps([vector["decision"], vector.get("line"), vector.get("definition")]) for vector in VECTORS]

    assert 300 <= len(VECTORS) <= 400
    assert len(set(inputs)) == len(inputs)


def test_the_file_covers_every_distribution_in_both_window_modes() -> None:
    pairs = seen(lambda vector: (vector["decision"]["distribution"]["name"], vector["decision"]["window_mode"]))

    assert pairs == {(name, mode.value) for name in DISTRIBUTIONS for mode in WindowMode}


def test_the_file_covers_every_direction_and_every_mean() -> None:
    params = [vector["decision"]["distribution"]["params"] for vector in VECTORS]

    assert {given.get("dir") for given in params} == {None, "early", "late"}
    assert {given.get("mu") for given in params} == {None, "nominal", "start", "mid", "end"}


def test_the_file_covers_every_seed_strategy_in_several_zones() -> None:
    pairs = seen(lambda vector: (vector["decision"]["seed_strategy"], vector["decision"]["timezone"]))

    zones = ("America/Los_Angeles", "Asia/Tokyo", "Pacific/Apia", "UTC")
    assert pairs >= {(strategy.value, zone) for strategy in SeedStrategy for zone in zones}


def test_the_file_covers_the_weeks_53_and_1_and_the_days_around_new_year() -> None:
    keys = seen(lambda vector: vector["decision"]["period_key"])

    assert keys >= {"2020-W53", "2021-W01", "2015-W53", "2025-W01", "2021-01-03", "2021-01-04", "2024-12-31"}


@pytest.mark.parametrize("side", ["only", "avoid"])
def test_the_file_covers_every_kind_of_clause_on_both_sides(side: str) -> None:
    assert clause_kinds(side) >= set(KINDS)


def test_the_file_covers_every_outcome() -> None:
    reasons = seen(lambda vector: vector["decision"]["reason"])

    assert reasons == {None, "no candidate accepted within MaxAttempts", "the only second is not allowed"}


def test_the_file_covers_few_and_many_attempts() -> None:
    attempts = seen(lambda vector: vector["decision"]["attempts"] if vector["decision"]["chosen_time"] else None)

    assert attempts >= {0, 1, 2, 3, 55}


def test_the_file_covers_windows_of_one_second_and_of_a_year() -> None:
    def width(vector: Vector) -> float:
        start, end = (datetime.fromisoformat(vector["decision"][f"window_{side}"]) for side in ("start", "end"))
        return (end - start).total_seconds()

    widths = seen(width)

    assert widths >= {0.0, 1.0, 2.0, 3.0, 3600.0, 8760 * 3600.0}


def test_the_file_covers_the_years_from_1900_to_2100() -> None:
    assert seen(lambda vector: vector["nominal"][:4]) >= {"1900", "1970", "1999", "2011", "2026", "2038", "2100"}


def test_the_file_covers_definitions_in_both_forms_and_texts_beyond_ascii() -> None:
    assert seen(lambda vector: "line" in vector) == {True, False}
    assert not all(vector["identity"].isascii() for vector in VECTORS)
    assert not all(vector["decision"]["salt"].isascii() for vector in VECTORS)
