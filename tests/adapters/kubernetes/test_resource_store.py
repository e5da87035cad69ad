"""Tests of ResourceStore: which objects are kept, and how they are found."""

from collections.abc import Mapping
from typing import Any

import pytest

from kron.adapters.kubernetes.cache import ResourceStore
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary
from tests.adapters.kubernetes.scripted_reflector import Thing, parse_thing
from tests.adapters.kubernetes.scripted_server import thing


class Things(ResourceStore[Thing]):
    """A store of things that are found by the first letter of their uid, and the errors of single things."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        boundary = ErrorBoundary(lambda *error: self.errors.append(error[-1]), lambda _resource: None, lambda: 0.0)
        super().__init__("things", self._read, boundary, indexers={"initial": lambda each: each.uid[0]})

    def _read(self, document: Mapping[str, Any], before: Thing | None) -> Thing:
        if "spec" in document:
            raise ValueError("a spec")
        return parse_thing(document, before)

    def found(self, initial: str) -> list[str]:
        return [each.resource_version for each in self.by_index("initial", initial)]


def with_uid(uid: str, version: str) -> dict[str, Any]:
    document = thing("a", version)
    document["metadata"]["uid"] = uid
    return document


def test_an_object_is_found_by_what_its_indexer_says_of_it_now() -> None:
    store = Things()

    store.take(with_uid("x", "1"))
    store.take(with_uid("x", "2"))
    assert store.found("x") == ["2"]

    store.take(with_uid("y", "3"))  # another object of the same name
    assert (store.found("x"), store.found("y")) == ([], ["3"])

    store.remove(("ns", "a"), "4")
    assert store.found("y") == []


def test_an_object_that_cannot_be_read_is_logged_and_stays_as_it_was() -> None:
    store = Things()
    store.take(thing("a", "1"))

    store.take(thing("a", "2", spec={}))

    assert store.objects["ns", "a"].resource_version == "1"
    assert store.errors == ["ValueError: a spec"]


def test_an_error_of_the_handler_stays_with_its_object() -> None:
    store = Things()

    def fail(_before: Thing | None, after: Thing | None) -> None:
        if after is not None and after.name == "a":
            raise ValueError("a bug")

    store.on_change = fail
    list(store.replace({("ns", name): store.parse(thing(name)) for name in "ab"}, "9", ""))

    assert [each.name for each in store.objects.values()] == ["a", "b"]
    assert store.errors == ["ValueError: a bug"]


@pytest.mark.parametrize("answer", ["1", "2"])
def test_an_answer_that_comes_after_the_deletion_does_not_bring_an_object_back(answer: str) -> None:
    store = Things()
    store.take(thing("a", "1"))
    store.remove(("ns", "a"), "3")

    store.take(thing("a", answer))

    assert store.objects == {}


def test_a_deletion_that_is_older_than_the_object_is_that_of_an_earlier_one() -> None:
    store = Things()
    store.take(thing("a", "5"))

    store.remove(("ns", "a"), "4")

    assert list(store.objects) == [("ns", "a")]
