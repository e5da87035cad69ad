"""kron-operator when the server answers 429 or 500, and when their clocks differ."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cluster.conftest import Replicas
from tests.cluster.load import MOST_HANDLES, Load, handles
from tests.cluster.operator import ACCOUNT
from tests.cluster.plane import ControlPlane
from tests.cluster.proxy import Proxy
from tests.cluster.wait import wait_until

pytestmark = pytest.mark.cluster

FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))


@pytest.fixture
def proxy(plane: ControlPlane) -> Iterator[Proxy]:
    found = Proxy(plane)
    yield found
    found.close()


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_server_that_refuses_for_a_while_is_asked_again(
    plane: ControlPlane, namespace: str, replica: Replicas, proxy: Proxy, tmp_path: Path, code: int
) -> None:
    config = proxy.kubeconfig(tmp_path / "proxy.kubeconfig", plane.token(namespace, ACCOUNT), namespace)
    operator = replica("--kubeconfig", str(config)).start()
    load = Load(plane, namespace)
    load.add(90)
    load.wait_for(3)

    proxy.fail(code)
    wait_until(lambda: proxy.refused >= 8, what="some refusals")
    proxy.fail(0)

    load.wait_for(3)
    load.settle([operator])
    assert handles(operator) <= MOST_HANDLES


@pytest.mark.skipif(not FAKETIME, reason="NOT tested with another clock: the package faketime is not installed")
@pytest.mark.parametrize("seconds", [20, -20])
def test_an_operator_whose_clock_differs_says_so_and_goes_by_its_own(
    plane: ControlPlane, namespace: str, replica: Replicas, seconds: int
) -> None:
    operator = replica()
    operator.environment = {
        "LD_PRELOAD": str(FAKETIME[0]),
        "FAKETIME": f"{seconds:+}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    operator.start()
    load = Load(plane, namespace)
    load.add(60)

    load.wait_for(5)

    load.settle([operator], skew=timedelta(seconds=seconds))
    assert round(operator.number("kron_clock_skew_seconds") / 10) == seconds / 10
    assert [line["level"] for line in operator.lines("clock skew")] == ["WARNING"]
