"""A bare client that makes an operator's writes as fast as a client alone can, in a process of its own.

`python -m bench.cluster.bare` reads a line of JSON (where, as whom, which namespace), makes every status what it is
before a period is due, and then, for each line with an instant, creates the Jobs of that period and writes statuses.
"""

import asyncio
import json
import ssl
import sys
from collections import deque
from time import monotonic, process_time, time
from typing import Any, NamedTuple

import aiohttp

from kron.decision.decide import decide
from kron.instant import Instant, parse_instant
from kron.kronjob.kronjob import KronJob, build_job
from kron.kronjob.parser import parse_kronjob
from kron.kronjob.status import KronJobStatus, ObjectReference, PeriodStatus, merge_patch
from kron.rules.verdict import Outcome

_WORKERS = 16
_PATIENCE = 2.0  # seconds, as in the operator: a status that has waited for longer goes before the next Job
_MERGE = {"Content-Type": "application/merge-patch+json"}
_JSON = {"Content-Type": "application/json"}


class Work(NamedTuple):
    """One KronJob's writes, as far as they can be made before."""

    name: str
    job: dict[str, Any]
    status: dict[str, Any]  # the patch, but for the Job's uid
    version: str


class BareSession:
    """A session of aiohttp, and nothing else."""

    def __init__(self, where: dict[str, str]) -> None:
        tls = ssl.create_default_context(cadata=where["authority"])
        self._namespace = where["namespace"]
        self._session = aiohttp.ClientSession(
            where["server"],
            connector=aiohttp.TCPConnector(limit=0, ssl=tls),
            headers={"Authorization": f"Bearer {where['token']}"},
        )
        self._jobs = f"/apis/batch/v1/namespaces/{self._namespace}/jobs"
        self._kronjobs = f"/apis/kron.io/v1alpha1/namespaces/{self._namespace}/kronjobs"

    async def prepare(self, at: Instant) -> None:
        """Write all statuses once, as the operator does when it comes."""
        todo = deque((document["metadata"], _standing(document, at)) for document in await self._list())

        async def work() -> None:
            while todo:
                about, standing = todo.popleft()
                body = {"metadata": {"resourceVersion": about["resourceVersion"]}, "status": standing.to_dict({}, at)}
                await self._patch(about["name"], body)

        await asyncio.gather(*(work() for _ in range(_WORKERS)))

    async def turn(self, at: Instant) -> dict[str, float]:
        """Create the Jobs of a period, and let their statuses follow; return when it began, and the CPU."""
        todo = deque(_work(document, at) for document in await self._list())
        statuses: deque[tuple[float, Work, str]] = deque()
        number, used, begun = len(todo), process_time(), time()

        async def work() -> None:
            while todo or statuses:
                if statuses and (not todo or monotonic() - statuses[0][0] > _PATIENCE):
                    _, found, uid = statuses.popleft()
                    found.status["active"][-1]["uid"] = uid
                    body = {"metadata": {"resourceVersion": found.version}, "status": found.status}
                    await self._patch(found.name, body)
                else:
                    found = todo.popleft()
                    async with self._session.post(self._jobs, data=json.dumps(found.job), headers=_JSON) as answer:
                        made = json.loads(await answer.read())
                        answer.raise_for_status()
                    statuses.append((monotonic(), found, made["metadata"]["uid"]))

        await asyncio.gather(*(work() for _ in range(_WORKERS)))
        return {"begun": begun, "cpu": (process_time() - used) / number}

    async def close(self) -> None:
        """End all connections."""
        await self._session.close()

    async def _patch(self, name: str, body: dict[str, Any]) -> None:
        url = f"{self._kronjobs}/{name}/status"
        async with self._session.patch(url, data=json.dumps(body), headers=_MERGE) as answer:
            await answer.read()
            answer.raise_for_status()

    async def _list(self) -> list[dict[str, Any]]:
        async with self._session.get(self._kronjobs) as answer:
            answer.raise_for_status()
            items: list[dict[str, Any]] = json.loads(await answer.read())["items"]
        about = {"apiVersion": "kron.io/v1alpha1", "kind": "KronJob"}
        return [{**about, **item} for item in items]


def _read(document: dict[str, Any]) -> KronJob:
    found = parse_kronjob({key: value for key, value in document.items() if key != "status"})
    assert isinstance(found, KronJob), found
    return found


def _standing(document: dict[str, Any], at: Instant) -> KronJobStatus:
    kronjob = _read(document)
    return KronJobStatus(1, kronjob.definition_hash, at, next=decide(kronjob.timing, kronjob.timing.schedule.next(at)))


def _work(document: dict[str, Any], at: Instant) -> Work:
    kronjob, about, before = _read(document), document["metadata"], document["status"]
    decision = decide(kronjob.timing, at)
    job = build_job(kronjob, decision)
    after = KronJobStatus(
        1,
        kronjob.definition_hash,
        parse_instant(before["definedAt"]),
        (PeriodStatus(at, at, 1, decision.chosen_time, Outcome.EXECUTED),),
        next=decide(kronjob.timing, kronjob.timing.schedule.next(at)),
        active=(ObjectReference(about["namespace"], job["metadata"]["name"], ""),),
    ).to_dict(before, at)
    for key in ("active", "handledPeriods"):
        after[key] = [*before.get(key, []), *after[key]]
    after["activeJobs"] = len(after["active"])
    return Work(about["name"], job, merge_patch(before, after), about["resourceVersion"])


async def main() -> None:
    """Do what the lines of standard input say, one after the other."""
    lines = iter(sys.stdin.readline, "")
    where = json.loads(next(lines))
    bare = BareSession(where)
    try:
        await bare.prepare(parse_instant(where["at"]))
        print(json.dumps({}), flush=True)
        for line in lines:
            print(json.dumps(await bare.turn(parse_instant(line.strip()))), flush=True)
    finally:
        await bare.close()


if __name__ == "__main__":
    asyncio.run(main())
