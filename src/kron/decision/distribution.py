"""Distribution: how the seconds of a window are weighted, as a table of quantile functions and their inverses."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType

from kron.decision.window import WindowFrame, WindowMode
from kron.errors import Fix, InvalidDefinitionError, InvalidDurationError
from kron.errors.diagnostics import ErrorCollector, unknown_value
from kron.instant import SECOND, ZERO, format_duration, parse_duration

Parameter = float | str | timedelta
UnitMap = Callable[[float], float]

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A name and the parameters that were given; `with_defaults` fills in the others."""

    name: str = "uniform"
    params: Mapping[str, Parameter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in _KINDS:
            raise unknown_value("distribution", self.name, _KINDS)
        try:
            params = {key: _read_parameter(self.name, key, value) for key, value in self.params.items()}
        except InvalidDefinitionError:
            mistakes = ErrorCollector()
            for key, value in self.params.items():
                with mistakes:
                    _read_parameter(self.name, key, value)
            mistakes.raise_first()
            raise
        object.__setattr__(self, "params", MappingProxyType(params))

    def __reduce__(self) -> tuple[object, ...]:
        return Distribution, (self.name, dict(self.params))

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted((key, str(value)) for key, value in self.params.items()))))

    def with_defaults(self, frame: WindowFrame) -> "Distribution":
        """Return the same distribution with every parameter stated."""
        parameters = _KINDS[self.name].parameters
        if len(self.params) == len(parameters):
            return self
        params = {name: self.params.get(name, default(frame)) for name, default in parameters.items()}
        return Distribution(self.name, params)

    def quantile(self, frame: WindowFrame) -> UnitMap | None:
        """Return the map from u in [0, 1) to a place x in the window, None where x is u itself."""
        return _KINDS[self.name].quantile(self.with_defaults(frame).params, frame)

    def cdf(self, frame: WindowFrame) -> UnitMap:
        """Return the probability that x falls below a place: the inverse of `quantile`."""
        return _KINDS[self.name].cdf(self.with_defaults(frame).params, frame)

    def to_params(self) -> dict[str, float | str]:
        """Return the parameters as JSON holds them, with durations as text."""
        return {
            key: format_duration(value) if isinstance(value, timedelta) else value for key, value in self.params.items()
        }

    def to_dict(self) -> dict[str, object]:
        """Return the table form."""
        return {"name": self.name, "params": self.to_params()}


# --- the five kinds ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    parameters: Mapping[str, Callable[[WindowFrame], Parameter]]  # each with its default
    quantile: Callable[[Mapping[str, Parameter], WindowFrame], UnitMap | None]
    cdf: Callable[[Mapping[str, Parameter], WindowFrame], UnitMap]


def _skew_early(params: Mapping[str, Parameter], _: WindowFrame) -> UnitMap:
    shape = _float(params["shape"])
    return lambda u: u**shape


def _skew_early_cdf(params: Mapping[str, Parameter], _: WindowFrame) -> UnitMap:
    shape = _float(params["shape"])
    return lambda x: x ** (1 / shape)


def _skew_late(params: Mapping[str, Parameter], _: WindowFrame) -> UnitMap:
    shape = _float(params["shape"])
    return lambda u: 1 - (1 - u) ** shape


def _skew_late_cdf(params: Mapping[str, Parameter], _: WindowFrame) -> UnitMap:
    shape = _float(params["shape"])
    return lambda x: 1 - (1 - x) ** (1 / shape)


# −ln(1 − u·(1 − e^−λ)) / λ, written with log1p and expm1 so that a tiny λ stays the uniform distribution that it means.


_LEAST_RATE = 1e-300  # below it u·λ has too few digits; all such distributions are the uniform one


def _exponential(params: Mapping[str, Parameter], _: WindowFrame) -> UnitMap:
    rate = max(_float(params["lambda"]), _LEAST_RATE)
    share = math.expm1(-rate)
    if params["dir"] == "early":
        return lambda u: -math.log1p(u * share) / rate
    return lambda u: 1 + math.log1p(u * share) / rate


def _exponential_cdf(params: Mapping[str, Parameter], _: WindowFrame) -> UnitMap:
    rate = max(_float(params["lambda"]), _LEAST_RATE)
    share = math.expm1(-rate)
    if params["dir"] == "early":
        return lambda x: math.expm1(-rate * x) / share
    return lambda x: 1 - math.expm1(-rate * (1 - x)) / share


def _normal(params: Mapping[str, Parameter], frame: WindowFrame) -> UnitMap:
    from statistics import NormalDist  # on first use: it brings decimal, fractions and random along

    inverse = NormalDist().inv_cdf
    mu, sigma = _mu(params, frame), _sigma(params)
    low, high = _phi(-mu / sigma), _phi((frame.width - mu) / sigma)

    def place(u: float) -> float:
        p = low + u * (high - low)
        if not 0 < p < 1:
            return 0.0 if p <= 0 else 1.0
        return (mu + sigma * inverse(p)) / frame.width

    return place


def _normal_cdf(params: Mapping[str, Parameter], frame: WindowFrame) -> UnitMap:
    mu, sigma = _mu(params, frame), _sigma(params)
    low, high = _phi(-mu / sigma), _phi((frame.width - mu) / sigma)
    return lambda x: (_phi((x * frame.width - mu) / sigma) - low) / (high - low)


def _phi(z: float) -> float:
    # The standard normal distribution function. By erfc and not by NormalDist.cdf, whose tails changed between Python
    # versions: a chosen second must not.
    return math.erfc(-z / math.sqrt(2)) / 2


def _mu(params: Mapping[str, Parameter], frame: WindowFrame) -> float:
    return {"nominal": frame.nominal, "start": 0, "mid": frame.width / 2, "end": frame.width}[str(params["mu"])]


def _sigma(params: Mapping[str, Parameter]) -> float:
    sigma = params["sigma"]
    assert isinstance(sigma, timedelta)
    return sigma / SECOND


def _float(value: Parameter) -> float:
    assert isinstance(value, float)
    return value


_SHAPE: Mapping[str, Callable[[WindowFrame], Parameter]] = {"shape": lambda _: 2.0}
_KINDS: Mapping[str, _Kind] = {
    "uniform": _Kind({}, lambda _params, _frame: None, lambda _params, _frame: lambda x: x),
    "skewEarly": _Kind(_SHAPE, _skew_early, _skew_early_cdf),
    "skewLate": _Kind(_SHAPE, _skew_late, _skew_late_cdf),
    "exponential": _Kind({"lambda": lambda _: 1.0, "dir": lambda _: "early"}, _exponential, _exponential_cdf),
    "normal": _Kind(
        {
            "mu": lambda frame: "nominal" if frame.mode is WindowMode.AROUND else "mid",
            # Whole microseconds, so that the text of a recorded decision names exactly the sigma that was used.
            "sigma": lambda frame: max(timedelta(seconds=frame.width) // 6, timedelta(microseconds=1)),
        },
        _normal,
        _normal_cdf,
    ),
}
DISTRIBUTIONS = tuple(_KINDS)
PARAMETERS: Mapping[str, tuple[str, ...]] = {name: tuple(kind.parameters) for name, kind in _KINDS.items()}


# --- parameters, from text or numbers ---------------------------------------------------------------------------------


def _positive(key: str, value: object) -> float:
    number = math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    elif isinstance(value, str) and _DECIMAL.fullmatch(value):
        number = float(value)
    if not (number > 0 and math.isfinite(number)):
        raise InvalidDefinitionError(
            field=f"distribution.{key}",
            found=str(value),
            reason="must be a finite number above 0",
            fix=Fix(key, "2.0"),
        )
    return number


def _word(*words: str) -> Callable[[str, object], str]:
    def read(key: str, value: object) -> str:
        if value not in words:
            raise unknown_value(f"distribution.{key}", value, words)
        return str(value)

    return read


def _positive_duration(key: str, value: object) -> timedelta:
    try:
        duration = value if isinstance(value, timedelta) else parse_duration(value)  # type: ignore[arg-type] # it checks
    except InvalidDurationError as error:
        raise InvalidDefinitionError(
            field=f"distribution.{key}", found=str(value), reason=str(error.details["reason"]), fix="write it as 10m"
        ) from error
    if duration <= ZERO:
        raise InvalidDefinitionError(field=f"distribution.{key}", found=str(value), reason="must be above 0s")
    return duration


_READERS: Mapping[str, Callable[[str, object], Parameter]] = {
    "shape": _positive,
    "lambda": _positive,
    "dir": _word("early", "late"),
    "mu": _word("nominal", "start", "mid", "end"),
    "sigma": _positive_duration,
}


def _read_parameter(name: str, key: str, value: object) -> Parameter:
    known = _KINDS[name].parameters
    if key not in known:
        takes = ", ".join(known) or "no parameters"
        fix = unknown_value("distribution", key, known).fix if known else "leave it out"
        raise InvalidDefinitionError(field="distribution", found=key, reason=f"{name} takes {takes}", fix=fix)
    return _READERS[key](key, value)
