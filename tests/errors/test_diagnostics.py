"""Tests of diagnostics: the first error is raised and carries the others."""

import pickle

import pytest

from kron.decision.timing import Timing
from kron.errors import InvalidDefinitionError, KronError
from kron.errors.diagnostics import ErrorCollector


def mistake(field: str) -> InvalidDefinitionError:
    return InvalidDefinitionError(field=field, found="", reason="is wrong")


def gathered(*errors: KronError) -> KronError:
    mistakes = ErrorCollector()
    for error in errors:
        with mistakes:
            raise error
    with pytest.raises(KronError) as caught:
        mistakes.raise_first()
    return caught.value


def test_without_mistakes_nothing_is_raised() -> None:
    mistakes = ErrorCollector()

    with mistakes:
        pass

    mistakes.raise_first()


def test_the_first_is_raised_with_the_others_beside_it() -> None:
    first, second, third = mistake("a"), mistake("b"), mistake("c")

    assert gathered(first, second, third).all_errors == (first, second, third)


def test_those_beside_a_gathered_one_come_along_in_order() -> None:
    inner = gathered(mistake("b"), mistake("c"))

    assert [error.details["field"] for error in gathered(mistake("a"), inner, mistake("d")).all_errors] == [
        "a",
        "b",
        "c",
        "d",
    ]


def test_an_exception_that_is_not_krons_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), ErrorCollector():
        raise ZeroDivisionError


def test_the_others_survive_being_sent_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(gathered(mistake("a"), mistake("b"))))

    assert [each.details["field"] for each in error.all_errors] == ["a", "b"]


def test_a_timing_with_several_mistakes_in_a_part_raises_the_first_with_the_others_beside_it() -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Timing.parse("0 3 * * * @win(aftr,soon)", identity="x")

    assert [error.details["field"] for error in caught.value.all_errors] == ["window.mode", "window.duration"]
