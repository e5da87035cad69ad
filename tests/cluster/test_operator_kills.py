"""kron-operator is killed a hundred times under load, one of two replicas at a time."""

import random
import signal
from datetime import timedelta

import pytest

from tests.cluster.conftest import Replicas
from tests.cluster.load import Load, now
from tests.cluster.operator import Operator
from tests.cluster.sight import template
from tests.cluster.wait import wait_until

pytestmark = pytest.mark.cluster

HASTE = ("--lease-duration", "1s", "--renew-deadline", "800ms", "--retry-period", "200ms")
KILLS = 100


def test_a_hundred_kills_under_load_double_and_lose_nothing(load: Load, replica: Replicas) -> None:
    load.add(60)
    load.add(20, "forbid", policy={"concurrency": "forbid", "deadline": "5m"}, jobTemplate=template("running"))
    load.add(20, "replace", policy={"concurrency": "replace", "deadline": "5m"}, jobTemplate=template("running"))
    load.add(20, "strict", policy={"concurrency": "allow", "deadline": "0s"})
    operators = [replica(*HASTE).start() for _ in range(2)]

    chance = random.Random(7)
    for number in range(KILLS):
        if number % 2:  # any replica, whatever it is about: it may not even have begun
            wait_for_a_moment(chance)
            victim = chance.choice(operators)
        else:
            wait_until(lambda: any(map(is_leading, operators)), what="a leader")
            wait_for_a_moment(chance)
            victim = next(filter(is_leading, operators), operators[0])
        victim.kill()
        victim.begin()

    load.settle(operators)


@pytest.mark.parametrize("number", [1, 2])
def test_a_leader_that_is_held_up_again_and_again_loses_nothing(load: Load, replica: Replicas, number: int) -> None:
    """It may come back before its lease expires, or when another replica leads."""
    operators = [replica(*HASTE).start() for _ in range(number)]
    load.add(90)
    load.wait_for(2)

    chance = random.Random(7)
    for _ in range(8):
        wait_until(lambda: any(map(is_leading, operators)), what="a leader")
        wait_for_a_moment(chance)
        held = next(filter(is_leading, operators), operators[0])
        held.process.send_signal(signal.SIGSTOP)
        others = [each for each in operators if each is not held]
        for _ in range(3):
            wait_for_a_moment(chance)
        # A lease of a second is hard to keep on a busy machine: they may have to try for long.
        wait_until(lambda others=others: not others or any(map(is_leading, others)), 180.0)  # type: ignore[misc]
        held.process.send_signal(signal.SIGCONT)

    load.wait_for(2)
    load.settle(operators)


def wait_for_a_moment(chance: random.Random) -> None:
    moment = now() + timedelta(seconds=chance.uniform(0, 0.5))
    wait_until(lambda: now() >= moment)


def is_leading(operator: Operator) -> bool:
    return operator.number("kron_operator_leader") == 1
