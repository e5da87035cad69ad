"""Distributions: each has the shape it is named for, fills its window from end to end, and inverts exactly."""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import floor, sqrt

import pytest
from hypothesis import given, settings, strategies as st

from kron import Timing, decide
from kron.decision.distribution import DISTRIBUTIONS, Distribution, Parameter
from kron.decision.window import WindowFrame, WindowMode
from kron.instant import SECOND
from tests.decision.reference import splitmix64
from tests.decision.reference_shape import resolve

SHAPES: list[tuple[str, dict[str, Parameter]]] = [("uniform", {})]
SHAPES += [(name, {"shape": shape}) for name in ("skewEarly", "skewLate") for shape in (0.25, 1.0, 2.0, 4.0)]
SHAPES += [("exponential", {"lambda": rate, "dir": way}) for rate in (0.01, 1.0, 8.0) for way in ("early", "late")]
SHAPES += [
    ("normal", {"mu": mu, "sigma": sigma}) for mu in ("nominal", "start", "mid", "end") for sigma in ("5m", "40m")
]
each_shape = pytest.mark.parametrize(("name", "params"), SHAPES, ids=[f"{name} {params}" for name, params in SHAPES])
each_name = pytest.mark.parametrize("name", DISTRIBUTIONS)

HOUR_AFTER = WindowFrame(WindowMode.AFTER, 3600, 0)
HOUR_AROUND = WindowFrame(WindowMode.AROUND, 3600, 1800)
JUST_BELOW_ONE = 1 - 2**-53
SAMPLE = [(value >> 11) / 2**53 for value in islice(splitmix64(2026), 10_000)]
units = st.integers(0, 2**53 - 1).map(lambda number: number / 2**53)


def place(distribution: Distribution, u: float, frame: WindowFrame = HOUR_AFTER) -> float:
    quantile = distribution.quantile(frame)
    return u if quantile is None else quantile(u)


def runs_against(params: dict[str, Parameter]) -> bool:
    return params.get("dir") == "late"  # 1 − y: the one case in which a greater number means an earlier place


def seat(x: float, width: int) -> int:
    return min(max(floor(x * (width + 1)), 0), width)


# --- shape ------------------------------------------------------------------------------------------------------------


@each_shape
def test_a_large_sample_follows_the_distribution_function(name: str, params: dict[str, Parameter]) -> None:
    distribution = Distribution(name, params)
    below = resolve({"name": name, "params": params}, "around", (-1800, 1800)).below

    places = sorted(place(distribution, u, HOUR_AROUND) for u in SAMPLE)

    # Kolmogorov and Smirnov: the greatest distance is below this bound for 99 % of all samples; ours is a fixed one.
    distance = max(abs(below(min(max(x, 0.0), 1.0)) - rank / len(places)) for rank, x in enumerate(places))
    assert distance < 1.63 / sqrt(len(places))


@each_shape
def test_the_seconds_chosen_in_many_periods_follow_the_distribution_function(
    name: str, params: dict[str, Parameter]
) -> None:
    definition = {
        "schedule": "@hourly",
        "window": {"mode": "around", "duration": "1h"},
        "distribution": {"name": name, "params": params},
    }
    timing = Timing.from_dict(definition, identity="test/shape")
    nominals = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour) for hour in range(4000)]
    below = resolve({"name": name, "params": params}, "around", (-1800, 1800)).below

    offsets = sorted(((decide(timing, at).chosen_time or at) - at) // SECOND + 1800 for at in nominals)

    shares = [bisect_right(offsets, second) / len(offsets) for second in range(3601)]
    distance = max(abs(share - below((second + 1) / 3601)) for second, share in enumerate(shares))
    assert distance < 1.63 / sqrt(len(offsets))


@each_name
def test_every_distribution_can_choose_the_first_and_the_last_second(name: str) -> None:
    distribution = Distribution(name)

    ends = [seat(place(distribution, u, HOUR_AROUND), 3600) for u in (0.0, JUST_BELOW_ONE)]

    assert ends == [0, 3600]


@each_name
@pytest.mark.parametrize("width", [1, 2, 3, 59])
def test_no_distribution_leaves_a_second_of_a_small_window_out(name: str, width: int) -> None:
    distribution = Distribution(name)
    frame = WindowFrame(WindowMode.AFTER, width, 0)

    seats = {seat(place(distribution, u, frame), width) for u in SAMPLE}

    assert seats == set(range(width + 1))


@each_shape
@settings(max_examples=25)
@given(u=units, v=units)
def test_places_run_with_the_numbers_or_for_late_against_them(
    name: str, params: dict[str, Parameter], u: float, v: float
) -> None:
    distribution = Distribution(name, params)

    first, last = (place(distribution, number, HOUR_AROUND) for number in sorted((u, v), reverse=runs_against(params)))

    assert first <= last + 1e-12


@each_shape
@settings(max_examples=25)
@given(u=units)
def test_the_distribution_function_inverts_the_quantile(name: str, params: dict[str, Parameter], u: float) -> None:
    distribution = Distribution(name, params)

    x = place(distribution, u, HOUR_AROUND)

    # Near an end where the density vanishes a place keeps fewer digits than the number it came from.
    assert distribution.cdf(HOUR_AROUND)(min(max(x, 0.0), 1.0)) == pytest.approx(
        1 - u if runs_against(params) else u, abs=2e-4
    )


@each_shape
def test_the_distribution_function_runs_from_zero_to_one(name: str, params: dict[str, Parameter]) -> None:
    below = Distribution(name, params).cdf(HOUR_AROUND)

    assert [below(0.0), below(1.0)] == pytest.approx([0.0, 1.0])


def test_skew_early_prefers_the_start_and_skew_late_the_end() -> None:
    early, late = (place(Distribution(name), 0.5) for name in ("skewEarly", "skewLate"))

    assert (early, late) == (0.25, 0.75)


def test_a_skew_of_shape_one_is_uniform() -> None:
    shape: dict[str, Parameter] = {"shape": 1.0}

    assert place(Distribution("skewEarly", shape), 0.375) == 0.375
    assert place(Distribution("skewLate", shape), 0.375) == 0.375


# --- limits of the parameters -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["early", "late"])
@pytest.mark.parametrize("rate", [1e-6, 1e-12, 1e-17, 1e-100, 1e-300])
def test_an_exponential_of_tiny_lambda_is_uniform(rate: float, way: str) -> None:
    distribution = Distribution("exponential", {"lambda": rate, "dir": way})

    places = [place(distribution, u) for u in (0.0, 0.3, 0.7, 0.999)]

    expected = [0.0, 0.3, 0.7, 0.999] if way == "early" else [1.0, 0.7, 0.3, 0.001]
    assert places == pytest.approx(expected, abs=1e-6)


def test_an_exponential_of_the_smallest_lambda_is_uniform() -> None:
    assert place(Distribution("exponential", {"lambda": 5e-324}), 0.3) == pytest.approx(0.3)


@pytest.mark.parametrize(("way", "end"), [("early", 0), ("late", 3600)])
def test_an_exponential_of_huge_lambda_stays_at_its_end(way: str, end: int) -> None:
    distribution = Distribution("exponential", {"lambda": 1e300, "dir": way})

    assert {seat(place(distribution, u), 3600) for u in (0.0, 0.5, JUST_BELOW_ONE)} == {end}


@pytest.mark.parametrize(("name", "shape", "end"), [("skewEarly", 1e300, 0), ("skewLate", 1e300, 3600)])
def test_a_skew_of_huge_shape_stays_at_its_end(name: str, shape: float, end: int) -> None:
    distribution = Distribution(name, {"shape": shape})

    assert {seat(place(distribution, u), 3600) for u in (0.001, 0.5, 0.999)} == {end}


@pytest.mark.parametrize(("mu", "second"), [("nominal", 1800), ("start", 0), ("mid", 1800), ("end", 3600)])
def test_a_normal_of_tiny_sigma_stays_at_its_mean(mu: str, second: int) -> None:
    distribution = Distribution("normal", {"mu": mu, "sigma": "1us"})

    assert {seat(place(distribution, u, HOUR_AROUND), 3600) for u in (1e-9, 0.2, 0.8, 1 - 1e-9)} == {second}


@pytest.mark.parametrize("mu", ["nominal", "start", "mid", "end"])
def test_a_normal_of_huge_sigma_is_uniform(mu: str) -> None:
    distribution = Distribution("normal", {"mu": mu, "sigma": "100000h"})

    places = [place(distribution, u, HOUR_AROUND) for u in (0.0, 0.3, 0.7, 0.999)]

    assert places == pytest.approx([0.0, 0.3, 0.7, 0.999], abs=1e-5)


@pytest.mark.parametrize(("frame", "mu"), [(HOUR_AFTER, "mid"), (HOUR_AROUND, "nominal")], ids=["after", "around"])
def test_a_normal_has_its_mean_in_the_middle_and_a_sixth_of_the_window_as_sigma(frame: WindowFrame, mu: str) -> None:
    resolved = Distribution("normal").with_defaults(frame)

    assert resolved.params == {"mu": mu, "sigma": timedelta(minutes=10)}


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("uniform", {}),
        ("skewEarly", {"shape": 2.0}),
        ("skewLate", {"shape": 2.0}),
        ("exponential", {"lambda": 1.0, "dir": "early"}),
    ],
)
def test_the_defaults_of_the_others_depend_on_nothing(name: str, params: dict[str, Parameter]) -> None:
    assert Distribution(name).with_defaults(HOUR_AFTER).params == params


def test_distributions_are_equal_and_hash_alike_whatever_the_order_and_spelling_of_their_parameters() -> None:
    numbers = Distribution("exponential", {"lambda": 2, "dir": "late"})
    texts = Distribution("exponential", {"dir": "late", "lambda": "2.0"})

    assert numbers == texts
    assert hash(numbers) == hash(texts)
