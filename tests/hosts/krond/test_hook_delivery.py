"""Messenger: errands are run a few at a time, in their order, and tried three times."""

import asyncio
from collections.abc import Awaitable, Callable

from kron.hosts.krond.hook_delivery import DeliveryQueue
from kron.hosts.krond.hooks import Notification, Ping
from kron.jobfile.host_job import Webhook
from tests.hosts.krond.test_hook_triggers import JOB

AT_ONCE = (0.0, 0.0)
Failure = tuple[str, str, int]


def errand(url: str) -> Notification:
    return Notification(JOB, "failure", Webhook(url), None)


class Post:
    """A messenger whose errands are run by a function of the test."""

    def __init__(self, deliver: Callable[[Notification], Awaitable[str]]) -> None:
        self.failures: list[Failure] = []
        self.messenger = DeliveryQueue(deliver, self._failed, pauses=AT_ONCE)

    def _failed(self, errand: Notification, error: str, tries: int) -> None:
        self.failures.append((errand.destination, error, tries))


def test_an_errand_is_tried_three_times_and_then_given_up() -> None:
    async def run() -> tuple[int, list[Failure]]:
        tried = []

        async def deliver(errand: Notification) -> str:
            tried.append(errand)
            return "no"

        post = Post(deliver)
        post.messenger.enqueue(errand("http://a"))
        await post.messenger.close()
        return len(tried), post.failures

    assert asyncio.run(run()) == (3, [("a", "no", 3)])


def test_an_errand_that_succeeds_at_last_has_not_failed() -> None:
    async def run() -> list[Failure]:
        answers = ["no", "no", ""]

        async def deliver(_: Notification) -> str:
            return answers.pop(0)

        post = Post(deliver)
        post.messenger.enqueue(errand("http://a"))
        await post.messenger.close()
        return post.failures

    assert asyncio.run(run()) == []


def test_an_error_that_nobody_thought_of_is_a_failure_and_others_have_their_turn() -> None:
    async def run() -> tuple[list[str], list[Failure]]:
        done = []

        async def deliver(errand: Notification) -> str:
            if errand.event == "late":
                raise ZeroDivisionError("surprise")
            done.append(errand.event)
            return ""

        post = Post(deliver)
        post.messenger.enqueue(Notification(JOB, "late", Webhook("http://a"), None))
        post.messenger.enqueue(Notification(JOB, "failure", Webhook("http://a"), None))
        await post.messenger.close()
        return done, post.failures

    assert asyncio.run(run()) == (["failure"], [("a", "ZeroDivisionError: surprise", 3)])


def test_a_job_tells_the_same_address_one_thing_after_the_other() -> None:
    async def run() -> list[str]:
        done: list[str] = []
        started = asyncio.Event()

        async def deliver(errand: Notification) -> str:
            assert isinstance(errand.hook, Ping)
            if errand.hook.below == "start":
                await started.wait()
            else:
                started.set()
            done.append(f"{errand.hook.url}/{errand.hook.below}")
            return ""

        post = Post(deliver)
        for url, below in (("http://a", "start"), ("http://a", "fail"), ("http://b", "fail")):
            post.messenger.enqueue(Notification(JOB, "ping", Ping(url, below), None))
        await post.messenger.close()
        return done

    assert asyncio.run(run()) == ["http://b/fail", "http://a/start", "http://a/fail"]


def test_only_so_many_are_under_way_and_only_so_many_wait() -> None:
    async def run() -> tuple[int, int, set[Failure]]:
        under_way, most, done = 0, 0, 0
        go = asyncio.Event()

        async def deliver(_: Notification) -> str:
            nonlocal under_way, most, done
            under_way += 1
            most = max(most, under_way)
            if under_way == 16:
                go.set()
            await go.wait()
            under_way -= 1
            done += 1
            return ""

        post = Post(deliver)
        for number in range(10_003):
            post.messenger.enqueue(errand(f"http://{number}"))
        await post.messenger.close()
        return most, done, set(post.failures)

    refused: set[Failure] = {(str(number), "too many others wait", 0) for number in range(10_000, 10_003)}
    assert asyncio.run(run()) == (16, 10_000, refused)


def test_a_target_that_is_dead_does_not_keep_others_from_hearing() -> None:
    async def run() -> str:
        heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def deliver(errand: Notification) -> str:
            if errand.destination == "dead":
                await heard
            else:
                heard.set_result(errand.destination)
            return ""

        post = Post(deliver)
        for number in range(100):
            post.messenger.enqueue(errand(f"http://dead/{number}"))
        post.messenger.enqueue(errand("http://alive"))
        await post.messenger.close()
        return heard.result()

    assert asyncio.run(run()) == "alive"


def test_who_is_in_a_hurry_waits_for_nobody_and_says_what_was_not_told() -> None:
    async def run() -> list[Failure]:
        async def deliver(_: Notification) -> str:
            await asyncio.get_running_loop().create_future()
            return ""

        post = Post(deliver)
        post.messenger.enqueue(errand("http://a"))
        post.messenger.stop_waiting()
        await post.messenger.close()
        return post.failures

    assert asyncio.run(run()) == [("a", "krond ended before", 0)]
