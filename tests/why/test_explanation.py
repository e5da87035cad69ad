"""Tests of Explanation: why a job ran, or did not run, at an instant."""

from datetime import timedelta

import pytest

from kron.instant import Instant, format_instant
from kron.rules.evidence import Evidence, RecordedPeriod, evidence_of_job
from kron.rules.history import RunRow
from kron.rules.job_record import JobRecord, PeriodRecord, ResultCode, RunEnd, RunStart
from kron.testing.job_ledger_suite import (
    DEFINITION,
    JOB,
    MINUTE,
    MISSED,
    NOON,
    RUN,
    TRIGGERED,
    attempt_at,
    closed_from,
)
from kron.why.explanation import Explanation, sentence, to_dict

HOUR, DAY = 60 * MINUTE, 24 * 60 * MINUTE
LATER = NOON + DAY
OWNER = JOB._replace(declared_at=NOON - DAY, handled_until=NOON - DAY)
HOURLY = '{"timing": {"schedule": "0 * * * *"}, "policy": {}}'
WINDOWED = '{"timing": {"schedule": "0 * * * *", "window": "after,2h"}, "policy": {}}'
HELD = '{"timing": {"schedule": "0 * * * *"}, "policy": {"suspend": true}}'
IN_BERLIN = '{"timing": {"schedule": "0 * * * *", "timezone": "Europe/Berlin"}, "policy": {}}'
AT_BOOT = '{"timing": null, "policy": {}}'


def run(
    attempt: RunStart, end: RunEnd | None = None, *, attempts: int = 1, definition: str = DEFINITION
) -> RecordedPeriod:
    return RecordedPeriod(attempt.nominal, RunRow.of_run("backup", attempt, end, attempts=attempts), definition)


def closed(record: PeriodRecord, nominal: Instant | None = None, definition: str = DEFINITION) -> RecordedPeriod:
    return RecordedPeriod(nominal or record.last, RunRow.of_closed("backup", record), definition)


def asked(at: Instant, definition: str = HOURLY, record: JobRecord = OWNER, now: Instant = LATER) -> Evidence:
    return evidence_of_job(record, definition, at, now)


def state(inquiry: Evidence) -> object:
    (episode,) = Explanation(inquiry).periods
    assert episode.row.outcome is None
    return episode.row.state


# --- whether it ran ---------------------------------------------------------------------------------------------------


def test_a_run_that_began_within_the_minute_ran() -> None:
    succeeded = run(RUN, RunEnd("run 1", NOON + MINUTE, ResultCode.SUCCEEDED, 0))

    answer = Explanation(asked(NOON + timedelta(seconds=50))._replace(touching=[succeeded], started=[succeeded]))

    assert answer.run == succeeded.row
    assert sentence(answer) == (
        "Yes: run run 1 of the period 2026-03-01T12:00:00Z began at 2026-03-01T12:00:07Z, 7 s late, and succeeded."
    )


def test_a_run_chosen_for_the_second_ran_however_late_it_began() -> None:
    late = run(RUN._replace(started=NOON + 5 * MINUTE))

    assert Explanation(asked(NOON)._replace(touching=[late])).run is not None
    assert Explanation(asked(NOON + timedelta(seconds=1))._replace(touching=[late])).run is None


def test_a_run_that_could_not_be_started_did_not_run() -> None:
    evidence = run(RUN, RunEnd("run 1", NOON, ResultCode.NOT_STARTED, detail="No such file"))

    answer = Explanation(asked(NOON)._replace(touching=[evidence], started=[evidence]))

    assert answer.run is None
    assert sentence(answer).endswith("but nothing could be started: No such file.")


@pytest.mark.parametrize("result", [ResultCode.REPLACED, ResultCode.STOPPED])
def test_a_triggered_run_that_never_began_did_not_run(result: ResultCode) -> None:
    evidence = run(TRIGGERED, RunEnd(TRIGGERED.run_id, TRIGGERED.started, result, detail="it had not begun"))

    assert Explanation(asked(TRIGGERED.started)._replace(started=[evidence])).run is None


@pytest.mark.parametrize("result", [ResultCode.REPLACED, ResultCode.STOPPED])
def test_a_run_that_the_host_ended_ran(result: ResultCode) -> None:
    evidence = run(TRIGGERED, RunEnd(TRIGGERED.run_id, TRIGGERED.started, result, signal="SIGTERM"))

    assert Explanation(asked(TRIGGERED.started)._replace(started=[evidence])).run is not None


def test_a_triggered_run_ran_and_is_no_period() -> None:
    answer = Explanation(asked(NOON + 30 * MINUTE)._replace(started=[run(TRIGGERED)]))

    assert (answer.run is not None, answer.periods) == (True, [])
    assert "because a user triggered it" in sentence(answer)


def test_a_period_whose_execution_began_late_within_the_minute_is_spoken_of() -> None:
    late = run(RUN._replace(started=NOON + 5 * MINUTE))

    answer = Explanation(asked(NOON + 5 * MINUTE)._replace(started=[late]))

    assert [episode.decision.nominal_time for episode in answer.periods] == [NOON]
    assert "300 s late" in sentence(answer)


# --- the periods ------------------------------------------------------------------------------------------------------


def test_the_nearest_chosen_time_comes_first() -> None:
    chosen = {NOON - HOUR: NOON + 20 * MINUTE, NOON: NOON + 50 * MINUTE}
    evidence = [
        run(RUN._replace(nominal=nominal, chosen=at, started=at, run_id=str(nominal)), definition=WINDOWED)
        for nominal, at in chosen.items()
    ]

    late = Explanation(asked(NOON + 45 * MINUTE, WINDOWED)._replace(touching=evidence))
    early = Explanation(asked(NOON + 22 * MINUTE, WINDOWED)._replace(touching=evidence))

    assert [episode.effective_time for episode in late.periods] == [NOON + 50 * MINUTE, NOON + 20 * MINUTE]
    assert [episode.effective_time for episode in early.periods] == [NOON + 20 * MINUTE, NOON + 50 * MINUTE]


def test_attempts_of_a_period_are_one_episode() -> None:
    evidence = [run(attempt_at(0, "first"), attempts=2), run(attempt_at(0, "second", 2), attempts=2)]

    (episode,) = Explanation(asked(NOON)._replace(touching=evidence)).periods

    assert (episode.row.run_id, episode.row.attempts) == ("second", 2)


def test_a_period_inside_a_range_is_spoken_of_itself() -> None:
    evidence = closed(closed_from(3, 5), NOON + 5 * MINUTE)

    (episode,) = Explanation(asked(NOON + 5 * MINUTE)._replace(touching=[evidence])).periods

    period = episode.to_dict()
    assert period["period_id"] == period["chosen_time"] == period["window_start"] == "2026-03-01T12:05:00Z"
    assert (period["first_period_id"], period["count"], period["reason"]) == ("2026-03-01T12:03:00Z", 5, "downtime")


def test_an_answer_as_json_has_the_rows_with_the_windows_the_seeds_and_the_definitions() -> None:
    found = Explanation(asked(NOON, WINDOWED)._replace(touching=[closed(MISSED, definition=HOURLY)]))

    answer, missed = to_dict(found), found.periods[0].to_dict()

    assert list(answer) == ["identity", "at", "ran", "answer", "clock_ahead_until", "periods"]
    assert (answer["at"], answer["ran"]) == ("2026-03-01T12:00:00Z", False)
    assert answer["periods"] == [episode.to_dict() for episode in found.periods]
    assert list(missed)[-5:] == ["window_start", "window_end", "seed_hash", "definition", "clock_ahead_until"]
    assert missed["definition"] == {"timing": {"schedule": "0 * * * *"}, "policy": {}}  # not the one in force
    assert len(str(missed["seed_hash"])) == 64


# --- without an outcome -----------------------------------------------------------------------------------------------


def test_a_period_to_come_is_planned() -> None:
    assert state(asked(NOON, now=NOON - MINUTE)) == "planned"


@pytest.mark.parametrize("declared_at", [OWNER.declared_at, NOON + DAY], ids=["before", "with that clock"])
def test_a_period_to_come_that_is_served_was_handled_while_the_clock_was_ahead(declared_at: Instant) -> None:
    inquiry = asked(NOON, record=OWNER._replace(declared_at=declared_at, handled_until=NOON + DAY), now=NOON - MINUTE)

    assert state(inquiry) == "clock ahead"
    assert sentence(Explanation(inquiry)) == (
        "No: the period 2026-03-01T12:00:00Z is over: it was handled while the clock was ahead, "
        "until 2026-03-02T12:00:00Z."
    )


def test_an_unjudged_period_is_planned_and_shown_as_due() -> None:
    inquiry = asked(NOON)

    assert state(inquiry) == "planned"
    assert "its time has come" in sentence(Explanation(inquiry))


@pytest.mark.parametrize(
    ("definition", "record"),
    [(HELD, OWNER), (HOURLY, OWNER._replace(is_suspended=True)),
     (HOURLY, OWNER._replace(is_suspended=True, suspended_until=NOON + MINUTE))],
    ids=["by its file", "by command", "by command until later"],
)  # fmt: skip
def test_a_period_of_a_suspended_job_is_suspended(definition: str, record: JobRecord) -> None:
    assert state(asked(NOON, definition, record)) == "suspended"


def test_a_period_after_the_end_of_a_suspension_is_planned() -> None:
    assert state(asked(NOON, record=OWNER._replace(is_suspended=True, suspended_until=NOON))) == "planned"


def test_a_period_before_the_declaration_is_not_owned() -> None:
    assert state(asked(NOON, record=OWNER._replace(declared_at=NOON))) == "not owned"


def test_a_period_after_the_removal_is_not_owned() -> None:
    assert state(asked(NOON, record=OWNER._replace(is_declared=False, handled_until=NOON - MINUTE))) == "not owned"


def test_a_period_that_was_served_and_has_no_record_is_forgotten() -> None:
    assert state(asked(NOON, record=OWNER._replace(handled_until=NOON))) == "forgotten"


# --- nothing ----------------------------------------------------------------------------------------------------------


def nearest(inquiry: Evidence) -> list[str]:
    found = []
    for each in Explanation(inquiry).neighbours:
        assert each is not None
        what = each.row.state if each.row.outcome is None else each.row.outcome.value
        found.append(f"{format_instant(each.effective_time)[11:16]} {what}")
    return found


def test_of_no_period_the_nearest_before_and_after_are_named() -> None:
    inquiry = asked(NOON + 30 * MINUTE, now=NOON + 40 * MINUTE)._replace(nearest=[run(RUN)])

    assert nearest(inquiry) == ["12:00 executed", "13:00 planned"]
    assert sentence(Explanation(inquiry)) == (
        "No: no period of backup belongs to 2026-03-01T12:30:00Z; the nearest before is 2026-03-01T12:00:00Z "
        "(executed), the nearest after is 2026-03-01T13:00:00Z (planned)."
    )


def test_the_nearest_may_lie_inside_of_one_range() -> None:
    record = MISSED._replace(
        first=NOON - 3 * HOUR, last=NOON + 3 * HOUR, period_count=7, last_effective=NOON + 3 * HOUR
    )

    assert nearest(asked(NOON + MINUTE)._replace(nearest=[closed(record, definition=HOURLY)])) == [
        "12:00 missed",
        "13:00 missed",
    ]


def test_an_unowned_period_is_named_only_if_there_is_no_other() -> None:
    record = OWNER._replace(declared_at=NOON + MINUTE, handled_until=NOON + MINUTE)
    before = run(attempt_at(-150, "before"))

    assert nearest(asked(NOON + 30 * MINUTE, record=record)) == ["12:00 not owned", "13:00 planned"]
    assert nearest(asked(NOON + 30 * MINUTE, record=record)._replace(nearest=[before])) == [
        "09:30 executed",
        "13:00 planned",
    ]


def test_a_job_without_periods_runs_when_the_machine_is_started() -> None:
    assert sentence(Explanation(asked(NOON, AT_BOOT))) == (
        "No: backup runs when the machine is started, and nothing was started at 2026-03-01T12:00:00Z."
    )


# --- in words ---------------------------------------------------------------------------------------------------------


def test_times_are_also_shown_on_the_wall_clock_of_the_job() -> None:
    found = sentence(Explanation(asked(NOON + 30 * MINUTE, IN_BERLIN)))

    assert "2026-03-01T12:30:00Z (Sun 13:30:00 +01:00)" in found


def test_a_missed_period_is_shown_with_its_reason() -> None:
    found = sentence(
        Explanation(asked(NOON + 5 * MINUTE)._replace(touching=[closed(closed_from(3, 5), NOON + 5 * MINUTE)]))
    )

    assert found == (
        "No: the period 2026-03-01T12:05:00Z was missed (downtime): "
        "the host was down, and was back later than the deadline allows."
    )
