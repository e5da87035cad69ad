"""The values of the cron package behave as frozen dataclasses do."""

import copy
import pickle
from collections.abc import Callable

import pytest

from kron.cron.dialect import HOUR, MINUTE, POSIX, UNITS, Unit
from kron.cron.expression import parse
from kron.cron.field import Field, parse_field
from kron.cron.frozen import Frozen
from kron.cron.zone import OffsetTable, load_zone
from kron.errors import Fix, OneOf

HOURS = parse_field("1-3", HOUR, POSIX)
TABLE = load_zone("Europe/Paris").table


class Point(Frozen):
    """A value that can be pickled, with an `__init__` of another order than its fields."""

    __match_args__ = ("x", "y")
    __slots__ = __match_args__
    x: int
    y: int

    def __init__(self, y: int, *, x: int = 0) -> None:
        super().__init__(x, y)


class Place(Point):
    """The same fields in another class."""

    __slots__ = ()


@pytest.mark.parametrize("value", [Point(1), HOURS, parse("0 3 * * *"), TABLE, MINUTE, POSIX])
def test_a_field_can_neither_be_set_nor_deleted(value: Frozen) -> None:
    name = value.__match_args__[0]

    with pytest.raises(AttributeError, match=f"{name} cannot be set"):
        setattr(value, name, None)
    with pytest.raises(AttributeError, match=f"{name} cannot be deleted"):
        delattr(value, name)
    assert getattr(value, name) is not None


@pytest.mark.parametrize("value", [Point(1), HOURS, parse("0 3 * * *"), TABLE, MINUTE, POSIX])
def test_a_value_has_no_attribute_beside_its_fields(value: Frozen) -> None:
    with pytest.raises(AttributeError):
        value.other = 1
    assert not hasattr(value, "__dict__")


def test_values_of_one_class_with_equal_fields_are_equal_and_hash_alike() -> None:
    twin = Field(HOUR, HOURS.values, HOURS.first, HOURS.last, is_starred=False)

    assert (twin, hash(twin)) == (HOURS, hash(HOURS))
    assert twin != Field(HOUR, HOURS.values, HOURS.first, HOURS.last, is_starred=True)


def test_values_of_two_classes_are_never_equal() -> None:
    assert Point(1) != Place(1)
    assert Point(1) != (0, 1)


def test_expressions_are_equal_if_their_fields_are_whatever_their_text() -> None:
    one, other = parse("0 3 * * *"), parse("00 03 * * *")

    assert (one, hash(one)) == (other, hash(other))
    assert one != parse("0 4 * * *")


def test_a_unit_is_equal_to_itself_alone() -> None:
    twin = Unit(HOUR.name, HOUR.low, HOUR.high)

    assert twin != HOUR
    assert len({twin, *UNITS}) == len(UNITS) + 1


@pytest.mark.parametrize("twin", [lambda value: pickle.loads(pickle.dumps(value)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("value", [Point(1, x=2), TABLE, Fix("window", "after,1h"), OneOf(("a", "b"), "c")])
def test_a_twin_is_equal(value: object, twin: Callable[[object], object]) -> None:
    assert twin(value) == value
    assert type(twin(value)) is type(value)


def test_a_value_is_written_with_its_fields_by_name() -> None:
    table = OffsetTable([], [], [], 1970, complete=True)

    assert repr(Point(1)) == "Point(x=0, y=1)"
    assert repr(table) == "OffsetTable(starts=[], ends=[], offsets=[], year=1970, complete=True)"


def test_an_expression_is_written_without_its_dialect_and_its_days() -> None:
    text = repr(parse("0 3 * * *"))

    assert text.startswith("Expression(text='0 3 * * *', minute=Field(unit=Unit(name='minute', low=0, high=59, ")
    assert "dialect=" not in text
    assert "days=" not in text.replace("selects_days=", "")
