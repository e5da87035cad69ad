"""Tests of FairQueue: namespaces take turns."""

from kron.adapters.kubernetes.work_queue import FairQueue


def waiting(**queues: str) -> FairQueue[str]:
    found: FairQueue[str] = FairQueue()
    for namespace, items in queues.items():
        for item in items:
            found.put(namespace, item, item.upper())
    return found


def taken(turns: FairQueue[str]) -> str:
    found = ""
    while (namespace := turns.next()) is not None:
        found += turns.take(namespace)[1]
    return found


def test_each_namespace_has_a_turn_after_the_others() -> None:
    assert taken(waiting(many="abcde", few="xy")) == "AXBYCDE"


def test_one_that_comes_later_waits_for_one_of_each() -> None:
    turns = waiting(many="abcde")
    turns.take("many")
    turns.put("few", "x", "X")

    assert taken(turns) == "BXCDE"


def test_a_namespace_that_is_not_allowed_is_left_out_and_stays() -> None:
    turns = waiting(many="ab", few="x")

    assert turns.next(lambda namespace: namespace != "many") == "few"
    assert turns.next(lambda _: False) is None
    assert len(turns) == 3


def test_an_item_of_the_same_key_is_replaced_where_it_waits() -> None:
    turns = waiting(many="ab")
    turns.put("many", "a", "new ")

    assert turns.get("many", "a") == turns.first("many") == "new "
    assert (len(turns), taken(turns)) == (2, "new B")


def test_an_item_can_be_dropped() -> None:
    turns = waiting(many="ab", few="x")

    assert turns.drop("few", "x")
    assert not turns.drop("few", "x")
    assert not turns.drop("many", "x")
    assert (len(turns), taken(turns), len(turns)) == (2, "AB", 0)


def test_of_too_many_the_oldest_of_the_namespace_with_the_most_is_forgotten() -> None:
    turns = waiting(few="x", many="abc")

    turns.shorten()

    assert taken(turns) == "XBC"


def test_nothing_waits_after_all_is_forgotten() -> None:
    turns = waiting(few="x")

    turns.clear()

    assert (len(turns), turns.next(), turns.get("few", "x")) == (0, None, None)


def test_a_namespace_that_is_rotated_comes_after_the_others_and_keeps_its_order() -> None:
    turns = waiting(many="ab", few="x")

    turns.rotate("many")

    assert taken(turns) == "XAB"
