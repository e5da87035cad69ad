"""A reference implementation of the five distributions, with sixty digits and without code of Kron."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import e
from statistics import NormalDist

SettingsTable = Mapping[str, object]

_UNITS = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1, "µs": 1}


def microseconds(duration: str) -> Fraction:
    parts = re.findall(r"([0-9.]+)(h|ms|us|µs|m|s)", duration)
    return sum((Fraction(number) * _UNITS[unit] for number, unit in parts), Fraction(0))


def duration_text(total: int) -> str:
    if total < 1_000_000:
        return f"{total // 1000}ms" if total and total % 1000 == 0 else f"{total}us"
    minutes, rest = divmod(total, 60_000_000)
    text = f"{minutes // 60}h" * (minutes >= 60) + f"{minutes % 60}m" * (minutes % 60 > 0)
    seconds = f"{rest // 1_000_000}.{rest % 1_000_000:06}".rstrip("0").rstrip(".")
    return text + f"{seconds}s" * (rest > 0)


@dataclass(frozen=True)
class Shape:
    """A distribution with its parameters over a window of `width` seconds whose nominal time lies at `nominal`."""

    name: str
    params: Mapping[str, float | str]
    width: int
    nominal: int

    def quantile(self, u: Fraction) -> Fraction:
        """Return the place in the window, in exact arithmetic or with at least sixty digits."""
        match self.name:
            case "uniform":
                return u
            case "skewEarly":
                return _power(u, Fraction(self.params["shape"]))
            case "skewLate":
                return 1 - _power(1 - u, Fraction(self.params["shape"]))
            case "exponential":
                early = _exponential(u, Fraction(self.params["lambda"]))
                return early if self.params["dir"] == "early" else 1 - early
            case _:
                normal, low, high = self._normal
                return Fraction(normal.inv_cdf(low + float(u) * (high - low))) / self.width

    def below(self, x: float) -> float:
        """Return the probability of a place below x."""
        shape, rate = float(self.params.get("shape", 0)), float(self.params.get("lambda", 0))
        match self.name, self.params.get("dir"):
            case "uniform", _:
                return x
            case "skewEarly", _:
                return float(x ** (1 / shape))
            case "skewLate", _:
                return float(1 - (1 - x) ** (1 / shape))
            case "exponential", "early":
                return float((1 - e ** (-rate * x)) / (1 - e**-rate))
            case "exponential", _:
                return float(1 - (1 - e ** (-rate * (1 - x))) / (1 - e**-rate))
            case _:
                normal, low, high = self._normal
                return (normal.cdf(x * self.width) - low) / (high - low)

    @cached_property
    def _normal(self) -> tuple[NormalDist, float, float]:
        """Return the normal distribution before it is cut, and its probabilities below the two ends."""
        places = {"nominal": self.nominal, "start": 0, "mid": self.width / 2, "end": self.width}
        sigma = float(microseconds(str(self.params["sigma"])) / 1_000_000)
        normal = NormalDist(places[str(self.params["mu"])], sigma)
        return normal, normal.cdf(0), normal.cdf(self.width)


def resolve(distribution: SettingsTable, mode: str, bounds: tuple[int, int]) -> Shape:
    """Return a distribution with every parameter stated."""
    name, width = str(distribution.get("name", "uniform")), bounds[1] - bounds[0]
    sigma = duration_text(max(width * 1_000_000 // 6, 1))
    defaults: dict[str, dict[str, float | str]] = {
        "uniform": {},
        "skewEarly": {"shape": 2.0},
        "skewLate": {"shape": 2.0},
        "exponential": {"lambda": 1.0, "dir": "early"},
        "normal": {"mu": "nominal" if mode == "around" else "mid", "sigma": sigma},
    }
    given = distribution.get("params", {})
    assert isinstance(given, Mapping)
    params = {**defaults[name], **{key: _parameter(key, str(value)) for key, value in given.items()}}
    return Shape(name, params, width, -bounds[0])


def _parameter(key: str, text: str) -> float | str:
    if key == "sigma":
        return duration_text(int(microseconds(text)))
    return text if key in ("dir", "mu") else float(text)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if base in (0, 1):
        return base
    digits = Context(prec=60)
    power = digits.multiply(_decimal(exponent, digits), digits.ln(_decimal(base, digits)))
    return Fraction(digits.exp(power))


def _exponential(u: Fraction, rate: Fraction) -> Fraction:
    digits = Context(prec=60 + max(0, -_decimal(rate, Context(prec=60)).adjusted()))
    lam = _decimal(rate, digits)
    inner = digits.subtract(1, digits.multiply(_decimal(u, digits), digits.subtract(1, digits.exp(-lam))))
    return Fraction(digits.divide(-digits.ln(inner), lam))


def _decimal(value: Fraction, digits: Context) -> Decimal:
    return digits.divide(Decimal(value.numerator), Decimal(value.denominator))
