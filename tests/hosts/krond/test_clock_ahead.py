"""A clock that was days ahead is corrected: handled periods stay handled, and krond explains why a job waits."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from kron.adapters.files.job_files import load_jobs
from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.adapters.system_time import system_now
from kron.engine.jobs.job_state import JobState
from kron.instant import Instant, format_instant, parse_instant
from kron.jobfile.host_job import work_of
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from kron.rules.periods import HandledPeriods
from kron.web.upcoming import ahead_until, clock_ahead, next_run
from kron.why.explanation import Explanation as Answered, sentence, to_dict
from tests.cli.kron_runner import CommandResult
from tests.engine.jobs.restartable_host import DAY, HOUR, MINUTE, NOON, SECOND, RestartableHost, work
from tests.hosts.krond.command_runner import krond as command
from tests.hosts.krond.krond_process import NEVER, Krond
from tests.web.page_client import PageClient

JOBS = f"""
[krond]
listen = "127.0.0.1:0"
[jobs.hourly]
schedule = "0 * * * *"
window = "after,30m"
command = "true"
[jobs.rarely]
{NEVER}
command = "true"
"""


async def run_ahead(path: Path, start: Instant, *works: JobSpec) -> None:
    """Run jobs for an hour from a start on, and for five hours more by a clock that is five days ahead."""
    ledger = SqliteJobLedger(path, guard=lambda: True)
    host = RestartableHost(start, ledger)
    host.runner.is_hasty = True
    await host.begin(*works)
    await host.clock.advance(HOUR)
    await host.crash(5 * DAY)
    await host.begin(*works)
    await host.clock.advance(5 * HOUR)
    await host.engine.crash()


# --- a real krond -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def krond(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Krond]:
    """A krond with the right clock, after a life whose clock was five days ahead at its end."""
    daemon = Krond(tmp_path_factory.mktemp("krond"), JOBS)
    daemon.state.mkdir(mode=0o700)
    works = [work_of(job) for job in load_jobs([str(daemon.file)]).job_set.jobs]
    asyncio.run(run_ahead(daemon.state / "ledger.db", system_now() - 2 * HOUR, *works))
    yield daemon.start()
    daemon.ask("stop", "--now")
    daemon.end()


def ask(krond: Krond, *words: str) -> CommandResult:
    return command(*words, "--state", str(krond.state))


def asked(krond: Krond, *words: str) -> Any:
    return ask(krond, *words, "--json").json


def until_of(krond: Krond) -> str:
    hourly = next(each for each in SqliteJobHistory(krond.state / "ledger.db").jobs() if each.name == "hourly")
    return format_instant(hourly.handled_until)


def words(krond: Krond) -> str:
    return f"handled while the clock was ahead, until {until_of(krond)}"


def test_status_says_until_when_periods_are_handled(krond: Krond) -> None:
    text, found = ask(krond, "status"), asked(krond, "status")["clock_ahead"]

    until = until_of(krond)
    assert text.code == 0
    assert f"periods of 1 job were {words(krond)}; these jobs wait, and krond trigger JOB starts one now\n" in text.out
    assert (found["count"], found["until"], found["detail"]) == (1, until, words(krond))
    assert found["jobs"] == [{"identity": f"{krond.file}:hourly", "until": until}]


def test_jobs_say_until_when_each_is_handled_and_the_seed_of_the_next_decision(krond: Krond) -> None:
    hourly, rarely = asked(krond, "jobs")

    (following,) = asked(krond, "next", "hourly", "--count", "1")
    assert (hourly["clock_ahead_until"], rarely["clock_ahead_until"]) == (until_of(krond), None)
    assert hourly["next_chosen_time"] > until_of(krond)
    assert hourly["seed_hash"] == following["seed_hash"]


def test_status_names_the_next_run_of_all_jobs(krond: Krond) -> None:
    (following,) = asked(krond, "next", "--count", "1")

    assert asked(krond, "status")["next"] == {
        key: following[key] for key in ("identity", "period_id", "chosen_time", "seed_hash")
    }


def test_why_says_it_of_a_period_that_ran_by_the_clock_that_was_ahead(krond: Krond) -> None:
    at = until_of(krond)

    text, answer = ask(krond, "why", "hourly", "--at", at), asked(krond, "why", "hourly", "--at", at)

    first, *lines = text.out.splitlines()
    assert first.startswith("Yes: run ")
    assert first.endswith(f"; periods of hourly were {words(krond)}.")
    assert words(krond) in [line.strip() for line in lines]
    assert words(krond) in answer["answer"]
    assert answer["clock_ahead_until"] == answer["periods"][0]["clock_ahead_until"] == at


def test_why_says_it_of_a_period_that_was_missed_by_the_clock_that_was_ahead(krond: Krond) -> None:
    at = format_instant((system_now() + DAY).replace(minute=0, second=0, microsecond=0))

    text, answer = ask(krond, "why", "hourly", "--at", at), asked(krond, "why", "hourly", "--at", at)

    assert text.code == 1
    assert text.out.splitlines()[0].endswith(f"; periods of hourly were {words(krond)}.")
    (period,) = answer["periods"]
    assert (period["outcome"], period["clock_ahead_until"]) == ("missed", until_of(krond))


def test_the_pages_say_it(krond: Krond) -> None:
    visitor, at = PageClient(krond), until_of(krond)

    overview, job, why = (
        visitor.get(path).words for path in ("/", "/jobs/hourly", f"/why?{urlencode({'job': 'hourly', 'at': at})}")
    )

    assert f"Periods of 1 job were {words(krond)}; these jobs wait, unless you trigger one." in overview
    assert f"Its periods were {words(krond)}." in job
    assert f"Clock {words(krond)}" in why


def test_explain_speaks_of_the_first_period_that_is_not_handled(krond: Krond) -> None:
    (decision,) = asked(krond, "explain", "hourly")

    assert decision["chosen_time"] == asked(krond, "jobs")[0]["next_chosen_time"]


# --- what a ledger says -----------------------------------------------------------------------------------------------


def answer_of(path: Path, at: Instant, now: Instant) -> Answered:
    return Answered(SqliteJobHistory(path).evidence("a", at, now))


async def test_a_period_counts_as_handled_ahead_until_its_second_has_come(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    await run_ahead(path, NOON, work("0 * * * *"))
    at, until = NOON + DAY, NOON + 5 * DAY + 6 * HOUR

    before, after, later = (answer_of(path, at, now) for now in (at - SECOND, at, until))

    said = f"; periods of a were handled while the clock was ahead, until {format_instant(until)}."
    assert (before.periods[0].ahead, after.periods[0].ahead) == (until, None)
    assert sentence(before).endswith(said)
    assert sentence(after).endswith(said)
    assert "ahead" not in sentence(later)
    assert to_dict(later)["clock_ahead_until"] is None


async def test_a_job_that_is_changed_after_the_correction_still_says_it(tmp_path: Path) -> None:
    path, now = tmp_path / "ledger.db", NOON + 90 * MINUTE
    await run_ahead(path, NOON, work("0 * * * *"))
    until = NOON + 5 * DAY + 6 * HOUR

    host = RestartableHost(now, SqliteJobLedger(path, guard=lambda: True))
    await host.begin(work("0 * * * * @win(after,10m)"))
    job = host.planner.jobs["a"]
    assert job.record.handled_until == now
    found = ahead_until(job, now)
    await host.engine.crash()

    assert found == until
    assert answer_of(path, NOON + DAY, now).periods[0].ahead == until


# --- jobs in memory ---------------------------------------------------------------------------------------------------


def job(line: str, name: str = "a", *, served: Instant = NOON, handled: HandledPeriods = HandledPeriods()) -> JobState:  # noqa: B008
    made = work(line, name)
    return JobState(made, JobRecord(name, name, made.definition_key, NOON - DAY, served), handled)


def test_a_job_that_has_served_the_past_alone_is_not_ahead() -> None:
    assert ahead_until(job("0 * * * *"), NOON) is None
    assert ahead_until(job("0 * * * *", served=NOON + DAY), NOON) == NOON + DAY


def test_periods_that_an_earlier_definition_handled_days_before_their_time_are_ahead() -> None:
    days = HandledPeriods.from_nominals([NOON + HOUR, NOON + 3 * DAY])

    assert ahead_until(job("0 * * * *", handled=days), NOON) == NOON + 3 * DAY
    assert ahead_until(job("30 * * * *", handled=days), NOON) is None  # it does not wait for them
    assert (
        ahead_until(job("0 * * * *", handled=HandledPeriods.from_nominals([NOON + HOUR])), NOON) is None
    )  # by a window around it


def test_a_period_that_a_long_window_let_run_days_before_its_time_is_not_ahead() -> None:
    handled = HandledPeriods.from_nominals([parse_instant("2026-03-06T12:00:00Z")])
    edited = job("0 12 */5 * * @win(around,120h) @seed(stable,salt=a)", handled=handled)
    at = parse_instant("2026-03-04T12:00:00Z")

    assert ahead_until(edited, at) is None


def test_a_status_names_the_latest_of_many_jobs_and_counts_all() -> None:
    jobs = [job("0 * * * *", f"job {number}", served=NOON + number * DAY) for number in range(250)]

    found = clock_ahead(jobs, NOON)

    assert found is not None
    assert (found.count, found.until, len(found.jobs)) == (249, NOON + 249 * DAY, 100)
    assert found.jobs[0] == ("job 249", NOON + 249 * DAY)


# --- the next run -----------------------------------------------------------------------------------------------------


def test_the_next_run_is_the_first_of_all_jobs_that_are_not_suspended() -> None:
    held = job("10 * * * *", "held")
    held.record = held.record._replace(is_suspended=True)
    jobs = [job("40 * * * *", "later"), held, job("20 * * * *", "sooner")]

    found = next_run(jobs, NOON)

    assert found is not None
    assert (found.identity, found.chosen_time) == ("sooner", NOON + 20 * MINUTE)
    assert next_run([held], NOON) is None


def test_the_next_run_may_come_after_a_period_without_a_second() -> None:
    picky = job("*/10 * * * * @only(between=12:20-12:59)", "picky")
    never = job("*/10 * * * * @only(months=2) @avoid(months=2)", "never")

    sooner = next_run([never, picky, job("40 * * * *")], NOON)
    later = next_run([never, picky, job("15 * * * *", "other")], NOON)

    assert sooner is not None
    assert (sooner.identity, sooner.chosen_time) == ("picky", NOON + 20 * MINUTE)
    assert later is not None
    assert later.identity == "other"
    assert next_run([never], NOON) is None
