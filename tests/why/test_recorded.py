"""Recorded `why` questions get the same answers: the JSON is a format that users rely on."""

import json

import pytest

from tests.why.recorded import RECORDED, answers

ANSWERS: dict[str, object] = json.loads(RECORDED.read_text("utf-8"))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return answers(tmp_path_factory.mktemp("why"))


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_is_answered_as_it_was(question: str, given: dict[str, object]) -> None:
    assert json.dumps(given[question]) == json.dumps(ANSWERS[question])


def test_every_question_has_a_recorded_answer(given: dict[str, object]) -> None:
    assert list(given) == list(ANSWERS)
