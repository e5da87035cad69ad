"""The contract `kron`: how a host handles, records and shows the periods of its jobs."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kron import Policy, Timing, decide
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.runs import RunResult
from kron.rules.history import RunRow
from kron.rules.job_record import ResultCode
from kron.rules.verdict import Close, Execute, Wait, judge
from tests.conformance.citing import clause
from tests.engine.jobs.restartable_host import DAY, HOUR, MINUTE, NOON, SECOND, RestartableHost, lived, work

RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
TIMES = {"declared_at", "served", "suspended_until", "newest", "nominal", "first", "chosen", "effective", "at", "ended",
    "retry_at",
}  # fmt: skip
SPREAD = "0,30 * * * * @win(after,25m) @seed(stable,salt=x)"


def executed(host: RestartableHost) -> dict[str, str]:
    """Return of each executed period when it began."""
    runs = host.ledger.runs.values()
    assert len({run.nominal for run in runs}) == len(runs), "a period was executed twice"
    return {f"{run.nominal:%d %H:%M}": f"{run.started:%d %H:%M:%S}" for run in runs if run.nominal is not None}


# --- chosen times depend on nothing else ------------------------------------------------------------------------------


async def undisturbed(host: RestartableHost) -> None:
    """Six hours in which nothing happens but runs."""
    await host.begin(work(SPREAD))
    await host.clock.advance(6 * HOUR)


@clause("seed.restarts")
def test_a_host_that_restarts_again_and_again_starts_at_the_same_seconds() -> None:
    async def story(host: RestartableHost) -> None:
        await host.begin(work(SPREAD))
        for _ in range(36):
            await host.clock.advance(9 * MINUTE + 50 * SECOND)
            await host.crash(down=10 * SECOND)
            await host.begin(work(SPREAD, deadline="0s"))

    calm, restarted = executed(lived(undisturbed)), executed(lived(story))

    assert len(restarted) >= len(calm) - 2, "a chosen second may fall into one of the restarts"
    assert restarted.items() <= calm.items()


@clause("seed.reconciliations")
def test_a_host_that_reconciles_again_and_again_starts_at_the_same_seconds() -> None:
    async def story(host: RestartableHost) -> None:
        await host.begin(work(SPREAD))
        for _ in range(6 * 20):
            await host.clock.advance(3 * MINUTE)
            await host.declare(work(SPREAD))

    assert executed(lived(story)) == executed(lived(undisturbed)) != {}


# --- states -----------------------------------------------------------------------------------------------------------


@clause("state.planned", "state.eligible", "state.terminal")
def test_a_period_is_planned_until_its_second_eligible_from_then_on_and_then_handled_for_ever() -> None:
    decision = decide(Timing.parse("0 12 * * * @win(after,1h)", identity="a"), NOON)
    chosen, policy = decision.chosen_time, Policy.from_dict({"deadline": "10m"})
    assert chosen is not None

    planned = [judge(decision, policy, at) for at in (NOON - DAY, NOON, chosen - SECOND)]
    eligible = [judge(decision, policy, chosen + late * SECOND) for late in (0, 1, 600)]
    handled = [judge(decision, policy, chosen + late, handled=True) for late in (0 * SECOND, HOUR, DAY)]

    assert planned == [Wait(chosen)] * 3
    assert eligible == [Execute(0), Execute(1), Execute(600)]
    assert handled == [Wait(None)] * 3


@clause("trigger.handled-when-eligible", "state.terminal")
def test_with_any_policy_and_state_an_eligible_period_is_handled_at_once() -> None:
    decision = decide(Timing.parse("0 12 * * * @win(after,1h)", identity="a"), NOON)
    assert decision.chosen_time is not None

    verdicts = [
        judge(decision, Policy.from_dict({"concurrency": concurrency}), decision.chosen_time + late, active=active)
        for concurrency in ("allow", "forbid", "replace")
        for late in (0 * SECOND, HOUR)
        for active in (False, True)
    ]

    assert all(isinstance(verdict, Execute | Close) for verdict in verdicts)


@clause("state.execution")
async def test_an_execution_is_running_until_it_ends_and_then_completed_with_its_result() -> None:
    rows: list[RunRow] = []

    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work("0 12 * * *"))
    await host.clock.advance(MINUTE)
    (attempt,) = host.ledger.runs.values()
    rows.append(RunRow.of_run("a", attempt, host.ledger.ends.get(attempt.run_id), attempts=1))
    host.runner.end(attempt.run_id, RunResult(exit_code=3))
    await host.clock.advance(MINUTE)
    rows.append(RunRow.of_run("a", attempt, host.ledger.ends.get(attempt.run_id), attempts=1))
    await host.engine.crash()

    assert [(row.state, row.result, row.exit_code) for row in rows] == [
        ("running", None, None),
        ("completed", ResultCode.FAILED, 3),
    ]


# --- concurrency ------------------------------------------------------------------------------------------------------


@clause("overlap.at-trigger")
async def test_a_run_that_ends_between_nominal_time_and_trigger_is_not_in_the_way() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work("0,30 * * * * @win(after,20m)", concurrency="forbid"))
    await host.clock.advance(31 * MINUTE)
    assert len(host.runner.running) == 1
    host.runner.end("life1-1", RunResult(exit_code=0))
    await host.clock.advance(25 * MINUTE)
    await host.engine.crash()

    assert [entry.split(" ", 4)[4] for entry in host.log] == ["executed", "executed"]


# --- changed definitions ----------------------------------------------------------------------------------------------

CHANGES = {
    "schedule": work("15,45 * * * * @win(after,10m)"),
    "timezone": work("0,30 * * * * @win(after,10m) @tz(Asia/Kathmandu)"),
    "window mode": work("0,30 * * * * @win(around,10m)"),
    "window duration": work("0,30 * * * * @win(after,20m)"),
    "distribution": work("0,30 * * * * @win(after,10m) @dist(skewLate)"),
    "parameters": work("0,30 * * * * @win(after,10m) @dist(skewEarly,shape=3)"),
    "only": work("0,30 * * * * @win(after,10m) @only(hours=0-23)"),
    "avoid": work("0,30 * * * * @win(after,10m) @avoid(hours=3)"),
    "seed strategy": work("0,30 * * * * @win(after,10m) @seed(daily)"),
    "salt": work("0,30 * * * * @win(after,10m) @seed(stable,salt=y)"),
    "concurrency": work("0,30 * * * * @win(after,10m)", concurrency="allow"),
    "deadline": work("0,30 * * * * @win(after,10m)", deadline="5m"),
    "suspend": work("0,30 * * * * @win(after,10m)", suspend=True),
}


@pytest.mark.parametrize("part", CHANGES)
@clause("change.any-field", "change.handled-stays", "change.future")
async def test_a_change_of_any_part_is_a_change_that_leaves_handled_periods_alone(part: str) -> None:
    changed: list[list[str]] = []

    host = RestartableHost()
    await host.begin(work("0,30 * * * * @win(after,10m)"))
    await host.clock.advance(15 * MINUTE)
    declared = await host.declare(CHANGES[part])
    changed.append(declared.changed)
    before = len(host.ledger.runs)
    await host.declare(CHANGES[part])
    await host.clock.advance(2 * HOUR)
    changed.append([] if len(host.ledger.runs) > before or part == "suspend" else ["nothing ran"])
    await host.engine.crash()

    assert changed == [["a"], []]
    assert "02 12:00" in executed(host), "it was handled before the change, and once"


@clause("change.active")
async def test_the_policy_of_the_new_definition_decides_about_a_run_of_the_old_one() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work("0,30 * * * *", concurrency="allow"))
    await host.clock.advance(2 * MINUTE)
    await host.declare(work("0,30 * * * *", concurrency="forbid"))
    await host.clock.advance(30 * MINUTE)
    await host.declare(work("0,30 * * * *", concurrency="replace"))
    await host.clock.advance(30 * MINUTE)
    await host.engine.crash()

    assert host.log == [
        "12:00:00 a 02 12:00 executed",
        "12:30:00 a 02 12:30 skipped: active",
        "13:00:00 a 02 12:00 replaced",
        "13:00:00 a 02 13:00 executed",
    ]


# --- records ----------------------------------------------------------------------------------------------------------


async def eventful(host: RestartableHost) -> None:
    """A life with every kind of record: runs, retries, each outcome, ranges, suspensions, an edit."""
    host.runner.codes = [0, 1, 0]
    jobs = [
        work("*/20 * * * * @win(after,30m)", retries=1, retry_delay=MINUTE),
        work("0 * * * * @avoid(hours=13)", "b", deadline="30m"),
        work("0 15 * * *", "held"),
    ]
    await host.begin(*jobs)
    await host.suspend("held", until=NOON + 2 * HOUR)
    await host.clock.advance(3 * HOUR + 7 * SECOND / 2)
    await host.crash(down=5 * HOUR + 10 * MINUTE)
    await host.begin(*jobs)
    await host.declare(*jobs[:2], work("30 * * * *", "held"))
    await host.clock.advance(HOUR)


@clause("hosts.stored-times")
async def test_every_time_in_the_file_is_a_text_in_rfc_3339_in_utc(tmp_path: Path) -> None:
    host = RestartableHost(store=SqliteJobLedger(tmp_path / "jobs.db"))
    await eventful(host)
    await host.suspend("held", until=NOON + DAY)
    await host.engine.crash()

    found: dict[str, set[object]] = {}
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        for table in ("job", "entry"):
            rows = connection.execute(f"SELECT * FROM {table}")
            names = [column for column, *_ in rows.description]
            for row in rows:
                for name, value in zip(names, row, strict=True):
                    found.setdefault(name, set()).add(value)
    assert {name: values - {None} for name, values in found.items() if name in TIMES}.keys() == TIMES
    for name in TIMES:
        assert all(RFC_3339.fullmatch(str(value)) for value in found[name] - {None}), name
        assert found[name] - {None}, name
    others = {str(value) for name, values in found.items() if name not in TIMES for value in values}
    assert [value for value in others if re.match(r"\d{4}-\d\d-\d\d|1[67]\d{8}", value)] == []


@clause("clock.persisted", "clock.backward", "once.per-period")
async def test_periods_handled_before_the_clock_was_set_back_stay_handled_after_a_restart(tmp_path: Path) -> None:
    host = RestartableHost(store=SqliteJobLedger(tmp_path / "jobs.db"))
    await host.begin(work("*/10 * * * *", deadline="2h"))
    await host.clock.advance(65 * MINUTE)
    await host.crash()
    host.clock.jump(-HOUR)
    await host.begin(work("*/10 * * * *", deadline="2h"))
    await host.clock.advance(2 * HOUR)
    await host.engine.crash()

    entries = host.log

    periods = [entry.split(" ", 4)[3] for entry in entries]
    assert len(set(periods)) == len(periods), entries
    assert {entry.split(" ", 4)[4] for entry in entries} == {"executed"}
    assert (periods[0], periods[-1]) == ("12:00", "14:00")
