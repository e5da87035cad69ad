"""kron explain: every step from text to chosen second, and the replay of a recorded decision."""

import json
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron

LIGHTS = "0 18 * * * @win(after,1h) @seed(stable,salt=lights) @only(between=18:58-19:00)"
AT = ("--identity", "home/lights", "--from", "2026-03-01T00:00:00Z")


def record(*, count: int = 1) -> str:
    return kron("next", LIGHTS, *AT, "--count", str(count), "--json").out


def test_every_step_is_named_in_order() -> None:
    answer = kron("explain", LIGHTS, *AT)

    steps = ["1 Text", "2 Period", "3 Seed", "4 Window", "5 Candidates", "6 Chosen"]
    places = [answer.out.index(step) for step in steps]
    assert answer.code == 0
    assert places == sorted(places)


def test_the_window_is_drawn_as_a_bar_with_what_is_allowed_and_what_was_chosen() -> None:
    answer = kron("explain", LIGHTS, *AT)

    marks, bar = (line for line in answer.out.splitlines() if "▼" in line or "░█" in line if "allowed" not in line)
    assert bar.strip() == "░" * 61 + "███"
    assert marks.index("▼") == bar.index("█")


def test_each_rejected_candidate_is_shown_with_the_clause_that_rejected_it() -> None:
    answer = kron("explain", "0 18 * * * @win(after,1h) @only(hours=19)", "--identity", "a", *AT[2:])

    assert "rejected by only(hours=19)" in answer.out


def test_an_unschedulable_period_says_so() -> None:
    answer = kron("explain", "0 18 * * * @win(after,1h) @only(hours=3)", *AT)

    assert "unschedulable: no candidate accepted within MaxAttempts" in answer.out


def test_json_has_the_decision_its_candidates_and_the_risk() -> None:
    answer = kron("explain", LIGHTS, *AT, "--json")

    decision = answer.json[0]
    assert decision["chosen_time"] == "2026-03-01T18:58:01Z"
    assert len(decision["candidates"]) == decision["attempts"] == 55
    assert decision["candidates"][-1]["rejected_by"] is None
    assert decision["allowed_share"] == pytest.approx(121 / 3601)
    assert decision["unschedulable_risk"] == pytest.approx((1 - 121 / 3601) ** 64)


def test_a_recorded_decision_gives_the_same_second_again(tmp_path: Path) -> None:
    file = tmp_path / "decision.json"
    file.write_text(json.dumps(json.loads(record())[0]), "utf-8")

    answer = kron("explain", "--replay", str(file))

    assert answer.code == 0
    assert "the same as the record" in answer.out


def test_all_decisions_of_an_array_are_replayed_from_standard_input() -> None:
    answer = kron("explain", "--replay", "-", "--json", stdin=record(count=5))

    assert answer.code == 0
    assert [row["same"] for row in answer.json] == [True] * 5


def test_a_log_line_that_holds_a_decision_is_replayed() -> None:
    line = json.dumps({"event": "decision", "decision": json.loads(record())[0]})

    answer = kron("explain", "--replay", "-", stdin=line)

    assert answer.code == 0


def test_an_altered_second_is_the_answer_no_and_the_field_is_named() -> None:
    altered = record().replace("18:58:01Z", "18:59:01Z")

    answer = kron("explain", "--replay", "-", stdin=altered)

    assert answer.code == 1
    assert "differs from the record in chosen_time" in answer.out


def test_other_time_zone_data_is_reported_and_is_no_difference_by_itself() -> None:
    decision = {**json.loads(record())[0], "tzdata_version": "1999a"}

    answer = kron("explain", "--replay", "-", stdin=json.dumps(decision))

    assert answer.code == 0
    assert "recorded with time zone data 1999a" in answer.out


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '"x"', "[1]", "{}", '{"algorithm_version": 2}', '{"decision": 1}'],
    ids=repr,
)
def test_a_text_that_is_no_decision_is_refused_with_one_clear_error(text: str) -> None:
    answer = kron("explain", "--replay", "-", stdin=text)

    assert answer.code == 2
    assert answer.err.startswith("kron: error: Invalid decision: ")
    assert answer.err.count("\n") == 1
