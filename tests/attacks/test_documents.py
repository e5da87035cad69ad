"""Tenants write valid documents that are large or expensive: other jobs are not delayed."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from kron.adapters.kubernetes.client import KRONJOBS
from kron.decision.bounds import LONGEST_ITEM, LONGEST_PARAM, LONGEST_SALT, LONGEST_ZONE, MOST_PARAMS, MOST_VALUES
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import ApiRefusedError, InvalidDefinitionError
from kron.kronjob.parser import parse_kronjob
from kron.kronjob.snapshot import parse_snapshot
from tests.adapters.kubernetes.scripted_server import Step, asking, serving, stream
from tests.attacks.api_server import kronjob
from tests.attacks.documents import HEAVY, RARELY_ALLOWED, DocumentParameters, krond_turn, operator_turn
from tests.attacks.turns import longest_turn
from tests.calls import counted
from tests.hosts.operator.replica import MINUTE, NOON, Replica, at_noon

BOUND = 0.1  # seconds of processor time that one document may hold the loop
GENEROUS = 5 * BOUND  # for machines that are slow or busy


@pytest.mark.parametrize("draft", [HEAVY, RARELY_ALLOWED])
def test_a_document_with_thousands_of_ranges_does_not_keep_another_tenants_job_from_starting(
    draft: DocumentParameters,
) -> None:
    cluster = at_noon()

    async def story() -> None:
        cluster.kronjob("good", "* * * * *", namespace="victim", policy={"concurrency": "allow"})
        cluster.kronjob("bad", namespace="attacker", **draft.spec())
        replica = await Replica(cluster).lead()
        await cluster.clock.advance(2 * MINUTE)
        await replica.stop()

    held = longest_turn(story)

    starts = [at for at, job in cluster.made if job["metadata"]["namespace"] == "victim"]
    assert [f"{at:%H:%M:%S}" for at in starts] == ["12:01:00", "12:02:00"]
    assert held < GENEROUS


@pytest.mark.slow
def test_an_operator_resumes_a_costly_document_after_a_day_without_holding_the_loop() -> None:
    assert operator_turn(RARELY_ALLOWED, days=1) < GENEROUS


def test_krond_resumes_a_costly_job_after_five_days_without_holding_the_loop() -> None:
    assert krond_turn(RARELY_ALLOWED, days=5) < GENEROUS


def test_a_status_that_is_written_again_does_not_search_for_the_next_run_again() -> None:
    cluster = at_noon()
    cluster.kronjob("bad", **HEAVY.spec())

    async def story() -> None:
        replica = await Replica(cluster).lead()
        await cluster.clock.advance(timedelta())
        with counted(decide) as calls:
            await cluster.clock.advance(10 * MINUTE)  # ten periods without a second, ten statuses
        await replica.stop()
        status = cluster.objects["kronjobs", "ns", "bad"]["status"]
        ready = next(each for each in status["conditions"] if each["type"] == "Ready")

        assert "beyond the look-ahead" in ready["message"]
        assert "nextChosenTime" not in status
        assert calls["decide"] < 100

    longest_turn(story)


@pytest.mark.parametrize(
    ("path", "spec", "limit", "found"),
    [
        ("spec.seed.salt", {"seed": {"salt": "s" * 60_000}}, LONGEST_SALT, 60_000),
        ("spec.timeZone", {"timeZone": "Z" * 60_000}, LONGEST_ZONE, 60_000),
        (
            "spec.distribution.params",
            {"distribution": {"name": "normal", "params": {f"p{number}": 1 for number in range(5_000)}}},
            MOST_PARAMS,
            5_000,
        ),
        (
            "spec.distribution.params",
            {"distribution": {"name": "normal", "params": {"p" * 9_000: 1}}},
            LONGEST_PARAM,
            9_000,
        ),
        ("spec.constraints.only", {"constraints": {"only": ["date=2030-01-01"] * 1_001}}, MOST_VALUES, 1_001),
        (
            "spec.constraints.only[0]",
            {"constraints": {"only": [" " * 40_000 + "dow=MON"]}},
            LONGEST_ITEM,
            40_007,
        ),
    ],
)
def test_a_field_of_a_kronjob_that_is_too_long_is_refused_with_its_length_and_the_limit(
    path: str, spec: dict[str, Any], limit: int, found: int
) -> None:
    document = {
        "apiVersion": "kron.io/v1alpha1",
        "kind": "KronJob",
        "metadata": {"namespace": "ns", "name": "a"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {}}, **spec},
    }
    errors = parse_kronjob(document)

    assert isinstance(errors, list)
    assert [error.field for error in errors] == [path]
    assert f"at most {limit}" in errors[0].message
    assert str(found) in errors[0].message
    assert len(errors[0].message) < 500


@pytest.mark.parametrize(
    "line",
    [
        f"* * * * * @seed(stable,salt={'s' * 1_025})",
        f"* * * * * @tz({'Z' * 65})",
        f"* * * * * @dist(normal,{','.join(f'p{number}=1' for number in range(17))})",
        f"* * * * * @only(date={','.join(['2030-01-01'] * 1_001)})",
        f"* * * * * @only({' ' * 40_000}dow=MON)",
    ],
)
def test_a_line_obeys_the_limits_of_a_kronjob(line: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=r"must have at most \d+ [a-z]+, found \d+") as caught:
        Timing.parse(line, identity="a")
    assert len(caught.value.message) < 500


# --- the search for the worst document --------------------------------------------------------------------------------

_CHOICES: dict[str, list[Any]] = {
    "schedule": ["* * * * *", "*/2 * * * *", "0-30 * * * *", "*/15 * * * *", "0 * * * *"],
    "zone": ["UTC", "Europe/Paris", "Australia/Lord_Howe"],
    "mode": ["after", "around"],
    "hours": [0, 1, 8, 16, 24, 240, 700],
    "distribution": ["uniform", "normal", "exponential", "skewLate"],
    "only": [0, 1, 500, 999],
    "avoid": [0, 1, 500, 1000],
    "step": [1, 2, 3, 30],
    "minutes": [0, 1, 5, 30],
    "deadline": ["0s", "30m", "8h"],
    "salt": [0, 1024],
}


def neighbour(draft: DocumentParameters, chance: random.Random) -> DocumentParameters:
    """Return an accepted document that differs in one or two choices."""
    while True:
        changes = {key: chance.choice(_CHOICES[key]) for key in chance.sample(sorted(_CHOICES), chance.randint(1, 2))}
        made = draft._replace(**changes)
        if made != draft and made.is_accepted():
            return made


def climb(
    measure: Callable[[DocumentParameters], float], start: DocumentParameters, *, tries: int, seed: int
) -> tuple[float, DocumentParameters]:
    """Return the worst document that a random climb finds, and how long it holds the loop."""
    chance, worst = random.Random(seed), (measure(start), start)
    for _ in range(tries):
        draft = neighbour(worst[1], chance)
        worst = max(worst, (measure(draft), draft), key=lambda found: found[0])
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("measure", [operator_turn, krond_turn])
def test_no_document_that_a_search_finds_holds_the_loop_after_thirty_days(
    measure: Callable[[DocumentParameters], float],
) -> None:
    seconds, draft = climb(measure, RARELY_ALLOWED, tries=2, seed=1)

    assert seconds < GENEROUS, draft


@pytest.mark.parametrize("template", [b"[" * 650_000 + b"]" * 650_000, b"[" + b",".join([b"[[]]"] * 260_000) + b"]"])
def test_a_kronjob_of_a_million_brackets_is_refused_for_its_size_without_holding_the_loop(template: bytes) -> None:
    document = kronjob("a", template)
    errors: list[str] = []

    async def play() -> None:
        answers = stream(b'{"type": "ADDED", "object": ' + document + b"}\n"), say_text(document)
        async with serving(*answers) as server, asking(server) as api:
            found = [each async for _, each in api.watch(KRONJOBS, "", "1")]
            found.append(await api.request("get", KRONJOBS, "greedy", "a"))
            errors.extend(parse_snapshot(each, None, NOON).errors for each in found)

    held = longest_turn(play)

    assert [error.partition(",")[0] for error in errors] == ["spec: must have at most 256"] * 2
    assert held < GENEROUS


@pytest.mark.parametrize("said", [b"[" * 1_000_000, b'{"details": {"causes": [' + b"[]," * 340_000 + b"[]]}}"])
def test_a_refusal_of_a_million_brackets_does_not_hold_the_loop(said: bytes) -> None:
    async def play() -> None:
        async with serving(say_text(said, 403)) as server, asking(server) as api:
            with pytest.raises(ApiRefusedError) as refused:
                await api.request("create", KRONJOBS, "greedy", body={})
            assert refused.value.code == 403

    assert longest_turn(play) < 2 * BOUND  # read in one go, it has four times as much


def say_text(text: bytes, code: int = 200) -> Step:
    """Answer with JSON as it is."""

    async def step(_: web.Request) -> web.StreamResponse:
        return web.Response(body=text, status=code, content_type="application/json")

    return step
