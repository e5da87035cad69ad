"""TIME: clauses on the interface, time, missed runs and the start."""

from tests.conformance.clause import BOTH_POLLING, DECLARATIVE, EVERY, Clause

_API = "Public interface"
_TIME = "Time"
_BASELINE = "hosts/library/test_baseline"
_MAKE_UP = "No make-up runs"
_START = "Start"

TIME = (
    Clause(
        "api.two-methods", EVERY, _API, "A scheduler has exactly two public methods, both awaited: initialize and stop."
    ),
    Clause(
        "api.registration-is-four",
        EVERY,
        _API,
        "A registration is a sequence of exactly four: name, cron expression, callback and retry delay.",
    ),
    Clause("api.name-not-empty", EVERY, _API, "The name of a task is a text with at least one character."),
    Clause("api.name-unique", EVERY, _API, "No two registrations of one list share a name."),
    Clause("api.cron-valid", EVERY, _API, "The cron expression of a registration is valid POSIX cron of five fields."),
    Clause("api.callback-async", EVERY, _API, "The callback takes no argument and is asynchronous."),
    Clause("api.delay-not-negative", EVERY, _API, "The retry delay is a duration of zero or more."),
    # --- time
    Clause("time.host-clock", EVERY, _TIME, "The clock of the host alone says what time it is, also after it was set."),
    Clause(
        "time.clock-far-ahead",
        EVERY,
        _TIME,
        "A baseline, or a retry, more than an hour in the future is counted from now, with one BaselineClamped a task.",
        shown_by=(
            f"{_BASELINE}::test_a_task_whose_last_start_is_days_ahead_runs_again_at_its_next_time",
            f"{_BASELINE}::test_a_recorded_clamp_is_not_reported_again_by_the_next_start",
            f"{_BASELINE}::test_a_retry_of_days_ahead_waits_its_delay_from_the_correction",
            f"{_BASELINE}::test_a_start_half_an_hour_ahead_is_waited_for_as_before",
        ),
    ),
    Clause(
        "time.minute-granularity", EVERY, _TIME, "Schedules are read in whole minutes: one occurrence a minute at most."
    ),
    Clause(
        "time.every-boundary", EVERY, _TIME, "The schedules are evaluated at every minute boundary; none is left out."
    ),
    Clause(
        "time.boundary-is-second-zero",
        EVERY,
        _TIME,
        "A minute begins at its second zero, and no task starts before it.",
    ),
    Clause("time.due-together", EVERY, _TIME, "Tasks that are due together run side by side, in no promised order."),
    Clause(
        "time.polls-regularly",
        BOTH_POLLING,
        _TIME,
        "While there are tasks, due ones are looked for again and again, at most one minute apart.",
    ),
    Clause("time.starts-all-due", BOTH_POLLING, _TIME, "Every task that a poll finds due is started."),
    Clause("time.polls-while-tasks", BOTH_POLLING, _TIME, "Polling goes on for as long as one task is scheduled."),
    Clause("time.no-tasks-no-polls", BOTH_POLLING, _TIME, "Polling ends when no task is scheduled."),
    Clause("time.local-zone", EVERY, _TIME, "All calculations are made in the time zone of the host."),
    Clause("time.dst-of-the-host", EVERY, _TIME, "Clocks change when they change in the zone of the host."),
    Clause("time.gap-is-skipped", EVERY, _TIME, "A minute that clocks jump over is skipped."),
    Clause("time.gap-not-that-day", EVERY, _TIME, "A task whose time lies in the lost hour does not run on that day."),
    Clause("time.fold-at-most-once", BOTH_POLLING, _TIME, "A minute that occurs twice gives at most one run."),
    Clause(
        "time.fold-first-only",
        BOTH_POLLING,
        _TIME,
        "In a repeated hour a task runs at the first passage only; a run that catches up counts as the first.",
    ),
    Clause("time.fold-several", (DECLARATIVE,), _TIME, "A minute that occurs twice gives more than one run."),
    Clause("time.fold-both", (DECLARATIVE,), _TIME, "In a repeated hour a task runs at both passages of its minute."),
    Clause("time.dst-goes-on", EVERY, _TIME, "After a change of clocks the schedule goes on without a restart."),
    Clause("time.dst-next", EVERY, _TIME, "The next occurrence is calculated across a change of clocks correctly."),
    # --- no make-up runs
    Clause(
        "makeup.at-most-once",
        EVERY,
        _MAKE_UP,
        "However many occurrences a downtime swallowed, a task runs at most once for them when the scheduler is back.",
    ),
    Clause(
        "makeup.six-in-an-hour",
        BOTH_POLLING,
        _MAKE_UP,
        "A task of every ten minutes that missed six occurrences in an hour runs once, not six times.",
    ),
    Clause(
        "makeup.four-in-an-hour",
        (DECLARATIVE,),
        _MAKE_UP,
        "A task of every quarter of an hour that missed four occurrences in an hour runs once, not four times.",
    ),
    # --- start
    Clause(
        "start.evaluates-cron",
        EVERY,
        _START,
        "The expression of a task without a record is compared with the minute in which it is first initialised.",
    ),
    Clause(
        "start.first-minute",
        EVERY,
        _START,
        "A task without a record whose expression matches the present minute runs at once.",
    ),
    Clause(
        "start.only-first-minute",
        EVERY,
        _START,
        "A task without a record whose expression does not match the present minute does not run at the start.",
    ),
    Clause("start.next-occurrence", EVERY, _START, "After the start a new task is scheduled for its next occurrence."),
    Clause(
        "start.each-task-by-itself",
        EVERY,
        _START,
        "The rule of the first minute holds for each task without a record, also beside tasks that have one.",
    ),
    Clause("start.loads-state", EVERY, _START, "A restart reads what was recorded of earlier runs."),
    Clause("start.applies-overrides", EVERY, _START, "A restart reconciles the records with the list it is given."),
    Clause(
        "start.continues",
        EVERY,
        _START,
        "A restart goes on from the recorded times of the last attempt, success and failure.",
    ),
)
