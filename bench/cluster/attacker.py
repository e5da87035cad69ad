"""Attacker: a tenant that overloads the cluster in one way, in a process, until its standard input ends.

`python -m bench.cluster.attacker` reads a line of JSON: either `edits` a second of the KronJobs of a namespace, of the
schedule or, with `salts`, of the salt; or a flood of requests over some `connections` to an address. At the end it
prints how many requests it made in how long.
"""

import asyncio
import json
import ssl
import sys
from contextlib import suppress
from time import monotonic
from typing import Any

import aiohttp

_EDITORS = 16  # connections
_MERGE = {"Content-Type": "application/merge-patch+json"}


class Attacker:
    """Counts what it does."""

    def __init__(self, orders: dict[str, Any]) -> None:
        self._orders = orders
        self._number = 0

    async def attack(self) -> dict[str, float]:
        """Go on until nothing more is read, and return what was done."""
        begun = monotonic()
        work = asyncio.ensure_future(self._edit() if "edits" in self._orders else self._flood())
        await asyncio.to_thread(sys.stdin.read)
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        return {"requests": self._number, "seconds": monotonic() - begun}

    async def _edit(self) -> None:
        """Give each of some KronJobs another definition and template, one after the other, so many a second."""
        orders = self._orders
        tls = ssl.create_default_context(cadata=orders["authority"])
        where = f"{orders['server']}/apis/kron.io/v1alpha1/namespaces/{orders['namespace']}/kronjobs"
        headers = {"Authorization": f"Bearer {orders['token']}", **_MERGE}
        begun = monotonic()

        async def edit(session: aiohttp.ClientSession) -> None:
            while True:
                self._number += 1
                number = self._number
                await asyncio.sleep(max(0.0, begun + number / orders["edits"] - monotonic()))  # noqa: TID251
                schedule = {"schedule": f"{number % 60} {number // 60 % 24} 1 1 *"}
                spec = {
                    **({"seed": {"salt": str(number)}} if orders["salts"] else schedule),
                    "jobTemplate": {"metadata": _note(number)},
                }
                url = f"{where}/{orders['names'][number % len(orders['names'])]}"
                async with session.patch(url, data=json.dumps({"spec": spec}), headers=headers) as answer:
                    await answer.read()
                    answer.raise_for_status()

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, ssl=tls)) as session:
            await asyncio.gather(*(edit(session) for _ in range(_EDITORS)))

    async def _flood(self) -> None:
        """Ask over all connections at once, each again as soon as it has an answer, or none."""

        async def ask(session: aiohttp.ClientSession) -> None:
            while True:
                with suppress(aiohttp.ClientError, OSError):
                    async with session.get(self._orders["address"]) as answer:
                        await answer.read()
                        self._number += 1

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            await asyncio.gather(*(ask(session) for _ in range(self._orders["connections"])))


def _note(number: int) -> dict[str, Any]:
    return {"annotations": {"edit": str(number)}}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(Attacker(json.loads(sys.stdin.readline())).attack())), flush=True)
