"""A tenant forges Jobs and statuses of a KronJob: other KronJobs run on time, and the operator survives."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kron.adapters.kubernetes.cache import ResourceStore
from kron.adapters.kubernetes.job_runner import KubernetesRunner
from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.operator.controller import OperatorConfig
from kron.instant import format_instant, parse_instant
from kron.kronjob.crd import crd
from kron.kronjob.kronjob import MANAGED_BY_LABEL, OPERATOR_NAME, job_name
from kron.kronjob.snapshot import ChildJob, ListedPeriods, parse_job, parse_snapshot
from kron.kronjob.spec_fields import definition_hash
from kron.kronjob.status import PeriodStatus
from tests.calls import counted
from tests.hosts.operator.controller_process import ControllerProcess
from tests.hosts.operator.fake_cluster import FakeCluster, refused
from tests.hosts.operator.replica import MINUTE, NOON, SECOND, Replica, at_noon, live

Forge = Callable[[FakeCluster], object]
START = NOON + 40 * SECOND
FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
WINDOWS = [{"mode": mode, "duration": "1h"} for mode in ("after", "around", "before")]
_TIMES = [FIRST, LAST, "0001-01-01T00:30:00Z", "9999-12-31T23:30:00Z", "1970-01-01T00:00:00Z", "2026-03-02T11:59:00Z"]
_TIMES += ["2026-03-02T12:00:00Z", "2026-03-02T12:01:00Z", "2026-03-03T12:00:00Z", "2318-06-01T00:00:00Z"]
_TIME = st.sampled_from(_TIMES)
_WRONG: st.SearchStrategy[Any] = st.sampled_from([None, "", "x", 3, 1e999, [], {}, [3], True, "9" * 100])


def forged_job(cluster: FakeCluster, period: Any, chosen: Any, *, name: str = "", is_over: bool = False) -> None:
    """Create a Job that says it is of the tenant's KronJob, and of a period."""
    uid = cluster.objects["kronjobs", "evil", "a"]["metadata"]["uid"]
    is_time = isinstance(period, str) and period[4:5] == "-"
    name = name or (job_name("evil/a", parse_instant(period)) if is_time else "copy")
    notes = {"kron.io/identity": "evil/a", "kron.io/period-id": period, "kron.io/chosen-time": chosen}
    cluster.job(
        name,
        namespace="evil",
        labels={MANAGED_BY_LABEL: OPERATOR_NAME},
        annotations=notes,
        ownerReferences=[{"kind": "KronJob", "uid": uid, "controller": True}],
    )
    if is_over:
        cluster.finish(name, namespace="evil")


def forged_status(cluster: FakeCluster, status: dict[str, Any]) -> None:
    """Write the status of the tenant's KronJob; `definitionHash: same` is that of its spec."""
    found = cluster.objects["kronjobs", "evil", "a"]
    said = {**found.get("status", {}), **status}
    if said.get("definitionHash") == "same":
        said["definitionHash"] = definition_hash(found["spec"])
    cluster._put(("kronjobs", "evil", "a"), {**found, "status": said})


def survives(forge: Forge, window: dict[str, str], *, is_first: bool) -> FakeCluster:
    """Return the cluster after an attack before or after the start, in which the other KronJob's Jobs came on time."""
    left = []

    async def story() -> None:
        cluster = FakeCluster(VirtualClock(START))
        cluster.kronjob("victim", "* * * * *", namespace="good")
        cluster.kronjob("a", "* * * * *", namespace="evil", window=window)
        if is_first:
            forge(cluster)
        process = ControllerProcess(cluster, OperatorConfig(leader_elect=False))
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


def on_time(cluster: FakeCluster) -> list[str]:
    return [f"{at:%H:%M:%S}" for at, job in cluster.made if job["metadata"]["namespace"] == "good"]


# --- Jobs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("window", [WINDOWS[0], WINDOWS[2]], ids=lambda window: window["mode"])
@pytest.mark.parametrize("period", [FIRST, LAST])
def test_a_forged_job_at_an_end_of_the_calendar_stops_no_other(
    period: str, window: dict[str, str], *, is_first: bool
) -> None:
    def forge(cluster: FakeCluster) -> None:
        forged_job(cluster, period, period)
        forged_job(cluster, period, period, name="copy")

    cluster = survives(forge, window, is_first=is_first)

    assert {job["name"] for job in cluster.status(namespace="evil")["active"]} >= {"copy"}


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(_TIME | _WRONG, _TIME | _WRONG, st.booleans()), min_size=1, max_size=3), st.booleans())
def test_with_any_annotations_of_a_job_the_others_run_on_time(
    jobs: list[tuple[Any, Any, bool]],
    is_first: bool,  # noqa: FBT001  # drawn
) -> None:
    def forge(cluster: FakeCluster) -> None:
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
def test_with_any_status_the_others_run_on_time(
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


def listed(cluster: FakeCluster) -> list[dict[str, Any]]:
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
async def test_forged_finished_jobs_are_cleaned_up_once_each(year: str, name: str) -> None:
    many = 100

    cluster = at_noon()
    cluster.kronjob("victim", "* * * * *", namespace="good")
    cluster.kronjob("a", "* * * * *", namespace="evil")
    replica = await Replica(cluster).lead()
    for number in range(many):
        period = f"{year}T12:{number // 60:02}:{number % 60:02}Z"
        forged_job(cluster, period, period, name=name.format(number), is_over=True)
    await cluster.clock.advance_to(NOON + MINUTE + SECOND)

    deleted = [job for verb, resource, job in cluster.requests if (verb, resource) == ("delete", "jobs")]
    assert len(deleted) == len(set(deleted)) == many - 3  # as many are kept
    assert on_time(cluster) == ["12:01:00"]
    await replica.stop()


async def test_clean_up_compares_no_forged_job_with_every_entry_of_a_status() -> None:
    entries, jobs = 2_000, 200

    cluster = at_noon()
    cluster.kronjob("a", "* * * * *", namespace="evil", window={"duration": "6h"})
    times = [format_instant(NOON + 3_600 * SECOND + number * SECOND) for number in range(entries)]
    listed = [{"periodID": time, "chosenTime": time, "outcome": "executed"} for time in times]
    document = {**cluster.objects["kronjobs", "evil", "a"], "status": {"handledPeriods": listed}}
    seen = parse_snapshot(document, None, NOON)
    for number in range(jobs):
        period = format_instant(NOON + (1 + number) * SECOND)
        forged_job(cluster, period, period, is_over=True)
    forged = [parse_job(each) for (plural, _, _), each in cluster.objects.items() if plural == "jobs"]

    with counted(vars(PeriodStatus)["effective_time"].fget) as calls:
        known = ListedPeriods(seen, NOON + 120 * MINUTE)
        found = [known.has(job) for job in forged]

    assert found == [True] * jobs  # older than all that is listed
    assert 0 < calls["effective_time"] < 4 * (entries + jobs)


# --- thousands of Jobs ------------------------------------------------------------------------------------------------

BUSY = refused(429, "TooManyRequests")
MANY = 2_000
BOUND = 400  # Jobs of a turn: parts of 300, and what is due beside them


def add_jobs(cluster: FakeCluster, *, are_over: bool) -> None:
    """Create Jobs of the KronJob with names of their periods' own."""
    uid = cluster.objects["kronjobs", "ns", "a"]["metadata"]["uid"]
    owner = {"kind": "KronJob", "uid": uid, "controller": True}
    for number in range(MANY):
        period = NOON + (1 + number) * SECOND / 10
        text = format_instant(period)
        notes = {"kron.io/identity": "ns/a", "kron.io/period-id": text, "kron.io/chosen-time": text}
        name = job_name("ns/a", period)
        labels = {MANAGED_BY_LABEL: OPERATOR_NAME}
        cluster.job(name, labels=labels, annotations=notes, ownerReferences=[owner])
    if are_over:
        cluster.finish_all()


def most_in_a_turn(function: Callable[..., object], story: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Live through a story; return the largest number of calls of a function between two turns of other tasks."""
    most = 0

    async def look(calls: Counter[str]) -> None:
        nonlocal most
        before = 0
        while True:
            most, before = max(most, calls[function.__name__] - before), calls[function.__name__]
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time

    async def play() -> None:
        with counted(function) as calls:
            looking = asyncio.create_task(look(calls))
            await story()
            looking.cancel()
            assert calls[function.__name__] >= MANY

    live(play())
    return most


@pytest.mark.parametrize("function", [KubernetesRunner.adopt, ChildJob.outcome])
def test_a_leader_that_takes_over_looks_at_some_hundred_jobs_a_turn(function: Callable[..., object]) -> None:
    async def story() -> None:
        cluster = at_noon()
        cluster.kronjob("a", "0 * * * *", policy={"concurrency": "forbid"})
        add_jobs(cluster, are_over=False)
        replica = await Replica(cluster).lead()
        await replica.stop()

    assert most_in_a_turn(function, story) <= BOUND


def test_a_list_of_thousands_of_jobs_is_taken_in_parts() -> None:
    async def story() -> None:
        cluster = at_noon()
        cluster.kronjob("a", "0 * * * *")
        add_jobs(cluster, are_over=False)
        process = ControllerProcess(cluster, OperatorConfig(leader_elect=False))
        await cluster.clock.advance(SECOND)
        await process.stop()

    assert most_in_a_turn(ResourceStore.put, story) <= BOUND


def test_a_repaired_spec_takes_thousands_of_jobs_up_in_parts() -> None:
    async def story() -> None:
        cluster = at_noon()
        cluster.kronjob("a", "0 * * * *", timeZone="No/Where")
        add_jobs(cluster, are_over=False)
        replica = await Replica(cluster).lead()
        cluster.kronjob("a", "0 * * * *", policy={"concurrency": "forbid"})
        await cluster.clock.advance(SECOND)
        await replica.stop()

    assert most_in_a_turn(KubernetesRunner.adopt, story) <= BOUND


def test_clean_up_looks_at_some_hundred_jobs_a_turn() -> None:
    async def story() -> None:
        cluster = at_noon()
        cluster.kronjob("a", "0 * * * *")
        await cluster.clock.advance(10 * MINUTE)
        add_jobs(cluster, are_over=True)
        cluster.before = lambda _verb, resource: BUSY if resource.subresource else None
        replica = await Replica(cluster).lead()
        await cluster.clock.advance(SECOND)
        await replica.stop()

    assert most_in_a_turn(ListedPeriods.has, story) <= BOUND
