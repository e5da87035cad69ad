"""Distributions: an error in a name or a parameter names the field."""

from datetime import timedelta
from typing import Any

import pytest

from kron.decision.distribution import Distribution
from kron.errors import InvalidDefinitionError

NOT_POSITIVE_NUMBERS: list[object] = [
    *(float("nan"), float("inf"), float("-inf"), 0, 0.0, -0.0, -1, -0.5, 10**400, True, False, None, [2.0], {}),
    *(
        "nan",
        "inf",
        "-1",
        "0",
        "+0.0",
        "1e999",
        "1_0",
        "٣",
        "２",
        "0x10",
        "2,5",
        "2 ",
        " 2",
        "",
        "two",
        "1e",
        "e5",
        "9" * 400,
    ),
]
NOT_POSITIVE_DURATIONS: list[object] = [
    *("0s", "0", "-10m", "10", "ten minutes", "", "1_0m", "٣m", "10 m", "NaNs", "1e3s"),
    *(10, 0.5, True, None, ["10m"], timedelta(), timedelta(seconds=-1)),
]


def refusal(name: Any, **params: Any) -> InvalidDefinitionError:
    with pytest.raises(InvalidDefinitionError) as caught:
        Distribution(name, params)
    return caught.value


@pytest.mark.parametrize("name", ["", "Uniform", "uniform ", "gauss", "skew", "skewearly", "None"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    error = refusal(name)

    assert error.field == "distribution"
    assert error.found == name
    assert error.reason == "must be one of uniform, skewEarly, skewLate, exponential, normal"


@pytest.mark.parametrize(
    ("name", "meant"), [("skewlate", "skewLate"), ("Normal", "normal"), ("exponental", "exponential")]
)
def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(name: str, meant: str) -> None:
    assert refusal(name).fix == f"did you mean {meant}?"


def test_uniform_takes_no_parameters() -> None:
    error = refusal("uniform", shape=2.0)

    assert (error.field, error.found, error.reason) == ("distribution", "shape", "uniform takes no parameters")


@pytest.mark.parametrize(
    ("name", "parameter", "known"),
    [
        ("skewEarly", "lambda", "shape"),
        ("skewLate", "sigma", "shape"),
        ("exponential", "shape", "lambda, dir"),
        ("normal", "mean", "mu, sigma"),
    ],
)
def test_a_parameter_of_another_distribution_is_refused_with_the_known_ones(
    name: str, parameter: str, known: str
) -> None:
    error = refusal(name, **{parameter: 2.0})

    assert (error.field, error.found, error.reason) == ("distribution", parameter, f"{name} takes {known}")


@pytest.mark.parametrize("value", NOT_POSITIVE_NUMBERS, ids=lambda value: ascii(value)[:20])
@pytest.mark.parametrize(
    ("name", "parameter"), [("skewEarly", "shape"), ("skewLate", "shape"), ("exponential", "lambda")]
)
def test_a_number_that_is_not_finite_and_above_zero_is_refused(name: str, parameter: str, value: object) -> None:
    error = refusal(name, **{parameter: value})

    assert error.field == f"distribution.{parameter}"
    assert error.reason == "must be a finite number above 0"


@pytest.mark.parametrize("value", NOT_POSITIVE_DURATIONS, ids=ascii)
def test_a_sigma_that_is_no_duration_above_zero_is_refused(value: object) -> None:
    assert refusal("normal", sigma=value).field == "distribution.sigma"


def test_a_sigma_that_is_a_bare_number_is_refused_with_the_right_form() -> None:
    error = refusal("normal", sigma=10)

    assert error.reason == "a duration is a text with units, not a bare number"
    assert error.fix == "write it as 10m"


@pytest.mark.parametrize("value", ["sideways", "EARLY", "", 1, True, None, ["early"], {}], ids=ascii)
def test_a_direction_is_early_or_late(value: object) -> None:
    error = refusal("exponential", dir=value)

    assert (error.field, error.reason) == ("distribution.dir", "must be one of early, late")


@pytest.mark.parametrize("value", ["middle", "MID", "", 0.5, None, ["mid"], {}], ids=ascii)
def test_a_mean_is_one_of_four_places(value: object) -> None:
    error = refusal("normal", mu=value)

    assert (error.field, error.reason) == ("distribution.mu", "must be one of nominal, start, mid, end")


@pytest.mark.parametrize("value", ["2", "2.0", "2.", "+2", "2e0", "0.2e1", "20e-1", 2, 2.0], ids=ascii)
def test_a_number_may_be_a_text_or_a_number(value: Any) -> None:
    assert Distribution("skewLate", {"shape": value}).params == {"shape": 2.0}


@pytest.mark.parametrize("value", ["90s", "1m30s", "1.5m", timedelta(seconds=90)], ids=str)
def test_a_sigma_may_be_a_text_or_a_timedelta(value: Any) -> None:
    assert Distribution("normal", {"sigma": value}).params == {"sigma": timedelta(seconds=90)}


def test_a_value_of_a_megabyte_is_not_repeated_in_the_message() -> None:
    assert len(str(refusal("skewLate", shape="9" * 1_000_000))) < 500
