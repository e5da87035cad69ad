"""Tests of DeliveryQueue: notifications are delivered a few at a time, in order, and tried three times."""

import asyncio
from collections.abc import Awaitable, Callable

from kron.hosts.krond.hook_delivery import DeliveryQueue
from kron.hosts.krond.hooks import Notification, Ping
from kron.jobfile.host_job import Webhook
from tests.hosts.krond.test_hook_triggers import JOB

AT_ONCE = (0.0, 0.0)
Failure = tuple[str, str, int]


def notification(url: str) -> Notification:
    return Notification(JOB, "failure", Webhook(url), None)


class DeliveryHarness:
    """A queue whose notifications are delivered by a function of the test."""

    def __init__(self, deliver: Callable[[Notification], Awaitable[str]]) -> None:
        self.failures: list[Failure] = []
        self.queue = DeliveryQueue(deliver, self._failed, pauses=AT_ONCE)

    def _failed(self, notification: Notification, error: str, tries: int) -> None:
        self.failures.append((notification.destination, error, tries))


def test_a_notification_is_tried_three_times_and_then_given_up() -> None:
    async def run() -> tuple[int, list[Failure]]:
        tried = []

        async def deliver(notification: Notification) -> str:
            tried.append(notification)
            return "no"

        post = DeliveryHarness(deliver)
        post.queue.enqueue(notification("http://a"))
        await post.queue.close()
        return len(tried), post.failures

    assert asyncio.run(run()) == (3, [("a", "no", 3)])


def test_a_notification_that_succeeds_at_the_third_try_has_not_failed() -> None:
    async def run() -> list[Failure]:
        answers = ["no", "no", ""]

        async def deliver(_: Notification) -> str:
            return answers.pop(0)

        post = DeliveryHarness(deliver)
        post.queue.enqueue(notification("http://a"))
        await post.queue.close()
        return post.failures

    assert asyncio.run(run()) == []


def test_an_error_that_no_case_expects_is_a_failure_and_others_have_their_turn() -> None:
    async def run() -> tuple[list[str], list[Failure]]:
        done = []

        async def deliver(notification: Notification) -> str:
            if notification.event == "late":
                raise ZeroDivisionError("surprise")
            done.append(notification.event)
            return ""

        post = DeliveryHarness(deliver)
        post.queue.enqueue(Notification(JOB, "late", Webhook("http://a"), None))
        post.queue.enqueue(Notification(JOB, "failure", Webhook("http://a"), None))
        await post.queue.close()
        return done, post.failures

    assert asyncio.run(run()) == (["failure"], [("a", "ZeroDivisionError: surprise", 3)])


def test_notifications_of_a_job_to_one_address_are_delivered_in_order() -> None:
    async def run() -> list[str]:
        done: list[str] = []
        started = asyncio.Event()

        async def deliver(notification: Notification) -> str:
            assert isinstance(notification.hook, Ping)
            if notification.hook.below == "start":
                await started.wait()
            else:
                started.set()
            done.append(f"{notification.hook.url}/{notification.hook.below}")
            return ""

        post = DeliveryHarness(deliver)
        for url, below in (("http://a", "start"), ("http://a", "fail"), ("http://b", "fail")):
            post.queue.enqueue(Notification(JOB, "ping", Ping(url, below), None))
        await post.queue.close()
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

        post = DeliveryHarness(deliver)
        for number in range(10_003):
            post.queue.enqueue(notification(f"http://{number}"))
        await post.queue.close()
        return most, done, set(post.failures)

    refused: set[Failure] = {(str(number), "too many others wait", 0) for number in range(10_000, 10_003)}
    assert asyncio.run(run()) == (16, 10_000, refused)


def test_a_dead_target_does_not_hold_up_others() -> None:
    async def run() -> str:
        heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def deliver(notification: Notification) -> str:
            if notification.destination == "dead":
                await heard
            else:
                heard.set_result(notification.destination)
            return ""

        post = DeliveryHarness(deliver)
        for number in range(100):
            post.queue.enqueue(notification(f"http://dead/{number}"))
        post.queue.enqueue(notification("http://alive"))
        await post.queue.close()
        return heard.result()

    assert asyncio.run(run()) == "alive"


def test_a_close_in_a_hurry_does_not_wait_and_reports_what_was_not_delivered() -> None:
    async def run() -> list[Failure]:
        async def deliver(_: Notification) -> str:
            await asyncio.get_running_loop().create_future()
            return ""

        post = DeliveryHarness(deliver)
        post.queue.enqueue(notification("http://a"))
        post.queue.stop_waiting()
        await post.queue.close()
        return post.failures

    assert asyncio.run(run()) == [("a", "krond ended before", 0)]
