"""Frozen: values with slots for the modules that `kron.Schedule` loads, which do not import `dataclasses`."""

from typing import ClassVar, NoReturn

# What a frozen dataclass with slots does, without importing `dataclasses` (which loads inspect, ast, dis and tokenize)
# and without compiling the methods of each class at import. The row `kron-schedule` of the benchmark suite `import`
# would be 1.6 times as long. A NamedTuple costs as little, but its fields are slower to read than slots.

# An `__init__` that must be fast calls it for each field: `Expression` has the row `parse fresh` of the suite `cron`.
set_slot = object.__setattr__


class Frozen:
    """A value that equals another one of its class with the same key; it is set once and never changed.

    A subclass names its fields in `__match_args__`, which are its slots, in the order in which they are set.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()
    __slots__ = ()
    _hidden: ClassVar[tuple[str, ...]] = ()  # fields that `repr` leaves out

    def __init__(self, *values: object) -> None:
        for name, value in zip(self.__match_args__, values, strict=True):
            set_slot(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is frozen: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and other.__class__ is self.__class__ and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in self.__match_args__ if name not in self._hidden]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self._values())

    def _key(self) -> tuple[object, ...]:
        return self._values()

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)


def _restore(kind: type[Frozen], values: tuple[object, ...]) -> Frozen:
    value = kind.__new__(kind)
    Frozen.__init__(value, *values)
    return value
