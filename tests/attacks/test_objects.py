"""A tenant forges Jobs and statuses of a KronJob: the KronJobs of others run on time, and the operator lives."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.operator.controller import Options
from kron.instant import format_instant, parse_instant
from kron.rules.kronjob.child import MANAGED_BY, MANAGER, own_name
from kron.rules.kronjob.crd import crd
from kron.rules.kronjob.definition_hash import definition_hash
from tests.hosts.operator.cluster import Cluster
from tests.hosts.operator.process import Process
from tests.hosts.operator.replica import MINUTE, NOON, SECOND, Replica, at_noon, live

Forge = Callable[[Cluster], object]
START = NOON + 40 * SECOND
FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
WINDOWS = [{"mode": mode, "duration": "1h"} for mode in ("after", "around", "before")]
_TIMES = [FIRST, LAST, "0001-01-01T00:30:00Z", "9999-12-31T23:30:00Z", "1970-01-01T00:00:00Z", "2026-03-02T11:59:00Z"]
_TIMES += ["2026-03-02T12:00:00Z", "2026-03-02T12:01:00Z", "2026-03-03T12:00:00Z", "2318-06-01T00:00:00Z"]
_TIME = st.sampled_from(_TIMES)
_WRONG: st.SearchStrategy[Any] = st.sampled_from([None, "", "x", 3, 1e999, [], {}, [3], True, "9" * 100])


def forged_job(cluster: Cluster, period: Any, chosen: Any, *, name: str = "", is_over: bool = False) -> None:
    """Create a Job that says it is of the tenant's KronJob, and of a period."""
    uid = cluster.objects["kronjobs", "evil", "a"]["metadata"]["uid"]
    is_time = isinstance(period, str) and period[4:5] == "-"
    name = name or (own_name("evil/a", parse_instant(period)) if is_time else "copy")
    notes = {"kron.io/identity": "evil/a", "kron.io/period-id": period, "kron.io/chosen-time": chosen}
    cluster.job(
        name,
        namespace="evil",
        labels={MANAGED_BY: MANAGER},
        annotations=notes,
        ownerReferences=[{"kind": "KronJob", "uid": uid, "controller": True}],
    )
    if is_over:
        cluster.finish(name, namespace="evil")


def forged_status(cluster: Cluster, status: dict[str, Any]) -> None:
    """Write the status of the tenant's KronJob; `definitionHash: same` is that of its spec."""
    found = cluster.objects["kronjobs", "evil", "a"]
    said = {**found.get("status", {}), **status}
    if said.get("definitionHash") == "same":
        said["definitionHash"] = definition_hash(found["spec"])
    cluster._put(("kronjobs", "evil", "a"), {**found, "status": said})


def survives(forge: Forge, window: dict[str, str], *, is_first: bool) -> Cluster:
    """Return the cluster after an attack before or after the start, in which the other KronJob's Jobs came on time."""
    left = []

    async def story() -> None:
        cluster = Cluster(VirtualClock(START))
        cluster.kronjob("victim", "* * * * *", namespace="good")
        cluster.kronjob("a", "* * * * *", namespace="evil", window=window)
        if is_first:
            forge(cluster)
        process = Process(cluster, Options(leader_elect=False))
        await cluster.clock.advance(5 * SECOND)
        if not is_first:
            forge(cluster)
        await cluster.clock.advance(5 * SECOND)
        cluster.kronjob("a", "*/2 * * * *", namespace="evil", window=window)  # what had begun is closed
        await cluster.clock.advance_to(NOON + MINUTE + SECOND)

        assert on_time(cluster) == ["12:01:00"]
        assert process.controller.is_healthy()
        assert "bug" not in process.events()
        await process.stop()  # which raises what has ended it
        left.append(cluster)

    live(story())
    return left[0]


def on_time(cluster: Cluster) -> list[str]:
    return [f"{at:%H:%M:%S}" for at, job in cluster.made if job["metadata"]["namespace"] == "good"]


# --- Jobs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("window", [WINDOWS[0], WINDOWS[2]], ids=lambda window: window["mode"])
@pytest.mark.parametrize("period", [FIRST, LAST])
def test_a_forged_job_at_an_end_of_the_calendar_stops_nobody(
    period: str, window: dict[str, str], *, is_first: bool
) -> None:
    def forge(cluster: Cluster) -> None:
        forged_job(cluster, period, period)
        forged_job(cluster, period, period, name="copy")

    cluster = survives(forge, window, is_first=is_first)

    assert {job["name"] for job in cluster.status(namespace="evil")["active"]} >= {"copy"}


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(_TIME | _WRONG, _TIME | _WRONG, st.booleans()), min_size=1, max_size=3), st.booleans())
def test_whatever_the_annotations_of_a_job_say_the_others_run_on_time(
    jobs: list[tuple[Any, Any, bool]],
    is_first: bool,  # noqa: FBT001  # drawn
) -> None:
    def forge(cluster: Cluster) -> None:
        for number, (period, chosen, is_over) in enumerate(jobs):
            forged_job(cluster, period, chosen, name="" if number == 0 else f"copy-{number}", is_over=is_over)

    survives(forge, WINDOWS[0], is_first=is_first)


# --- statuses ---------------------------------------------------------------------------------------------------------

_ENTRY = st.fixed_dictionaries(
    {"periodID": _TIME | _WRONG, "outcome": st.sampled_from(["missed", "executed", "x", None])},
    optional={"lastPeriodID": _TIME | _WRONG, "count": _WRONG, "chosenTime": _TIME | _WRONG, "reason": _WRONG},
)
_STATUS = st.fixed_dictionaries(
    {"definitionHash": st.sampled_from(["same", "other"]) | _WRONG},
    optional={
        **dict.fromkeys(("definedAt", "nextNominalTime", "nextChosenTime", "lastSuccessfulTime"), _TIME | _WRONG),
        "handledPeriods": st.lists(_ENTRY | _WRONG, max_size=12) | _WRONG,
        "active": st.lists(_WRONG, max_size=2) | _WRONG,
        "conditions": st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["InvalidSpec", "SchedulingError", "Ready"]) | _WRONG},
                optional={"status": st.just("True") | _WRONG, "lastTransitionTime": _TIME | _WRONG, "reason": _WRONG},
            )
            | _WRONG,
            max_size=2,
        )
        | _WRONG,
    },
)


@settings(max_examples=20, deadline=None)
@given(_STATUS, st.sampled_from(WINDOWS), st.booleans())
def test_whatever_a_status_says_the_others_run_on_time(
    status: dict[str, Any],
    window: dict[str, str],
    is_first: bool,  # noqa: FBT001  # drawn
) -> None:
    cluster = survives(lambda cluster: forged_status(cluster, status), window, is_first=is_first)

    assert all(parse_instant(each["chosenTime"]) > START for each in listed(cluster) if "chosenTime" in each)


@pytest.mark.parametrize(
    "status",
    [
        {"definitionHash": "same", "definedAt": FIRST},
        {"definitionHash": "other", "definedAt": FIRST, "nextNominalTime": FIRST, "nextChosenTime": FIRST},
        {"definitionHash": "other", "definedAt": LAST, "nextNominalTime": LAST},
        {
            "definitionHash": "same",
            "handledPeriods": [{"periodID": FIRST, "lastPeriodID": LAST, "count": 3, "outcome": "missed"}],
        },
    ],
    ids=["definedAt", "next", "the end", "a span over all"],
)
def test_a_forged_status_is_clipped_to_the_life_of_its_kronjob(status: dict[str, Any]) -> None:
    cluster = survives(lambda cluster: forged_status(cluster, status), WINDOWS[0], is_first=True)

    found = cluster.status(namespace="evil")
    assert START <= parse_instant(found["definedAt"]) <= cluster.clock.now()
    latest = format_instant(NOON + timedelta(days=1, hours=1, minutes=3))
    assert all(each.get("lastPeriodID", each["periodID"]) <= latest for each in listed(cluster))


def listed(cluster: Cluster) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cluster.status(namespace="evil").get("handledPeriods", [])
    return found


def test_the_schema_refuses_statuses_beyond_the_bounds() -> None:
    schema = crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    entry = schema["handledPeriods"]["items"]["properties"]

    assert schema["handledPeriods"]["maxItems"] == 2_000
    for field in (entry["periodID"], entry["lastPeriodID"], entry["chosenTime"], schema["definedAt"]):
        assert field["pattern"] == "^[12][0-9]{3}-"
        assert field["maxLength"] == 32


# --- clean-up ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("year", "name"), [("2026-03-02", "copy-{}"), ("9999-12-31", ""), ("0001-01-01", "")], ids=["copy", "last", "first"]
)
def test_forged_finished_jobs_are_cleaned_up_once_each(year: str, name: str) -> None:
    many = 100

    async def story() -> None:
        cluster = at_noon()
        cluster.kronjob("victim", "* * * * *", namespace="good")
        cluster.kronjob("a", "* * * * *", namespace="evil")
        replica = await Replica(cluster).lead()
        for number in range(many):
            period = f"{year}T12:{number // 60:02}:{number % 60:02}Z"
            forged_job(cluster, period, period, name=name.format(number), is_over=True)
        await cluster.clock.advance_to(NOON + MINUTE + SECOND)

        deleted = [name for verb, resource, name in cluster.requests if (verb, resource) == ("delete", "jobs")]
        assert len(deleted) == len(set(deleted)) == many - 3  # as many are kept
        assert on_time(cluster) == ["12:01:00"]
        await replica.stop()

    live(story())
