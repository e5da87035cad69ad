"""kron-operator killed a hundred times under load: two replicas, so that one is killed while the other takes over."""

import random
from datetime import timedelta

import pytest

from tests.cluster.conftest import Replicas
from tests.cluster.load import Load, now
from tests.cluster.operator import Operator
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import template
from tests.cluster.wait import wait_until

pytestmark = pytest.mark.cluster

HASTE = ("--lease-duration", "1s", "--renew-deadline", "800ms", "--retry-period", "200ms")
KILLS = 100


def test_a_hundred_kills_under_load_double_and_lose_nothing(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    load = Load(plane, namespace)
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


def wait_for_a_moment(chance: random.Random) -> None:
    moment = now() + timedelta(seconds=chance.uniform(0, 0.5))
    wait_until(lambda: now() >= moment)


def is_leading(operator: Operator) -> bool:
    return operator.number("kron_operator_leader") == 1
