"""LIFE: clauses on the states of scheduler, task and polling, and on the times kept for a task."""

from tests.conformance.clause import BOTH_POLLING, DECLARATIVE, DRAFT, EVERY, POLLING, Clause

_SCHEDULER = "Life of the scheduler"
_TASK = "Life of a task"
_STAMPS = "Times kept for a task"
_POLLING = "Life of the polling loop"

LIFE = (
    Clause(
        "scheduler.six-states",
        BOTH_POLLING,
        _SCHEDULER,
        "A scheduler is in exactly one of six states: Uninitialized, Initializing, Running, Reinitializing, Stopping, "
        "Stopped.",
    ),
    Clause(
        "scheduler.five-states",
        (DECLARATIVE,),
        _SCHEDULER,
        "A scheduler is in exactly one of five states: Uninitialized, Initializing, Running, Stopping, Stopped.",
    ),
    Clause(
        "scheduler.begins-to-initialize",
        EVERY,
        _SCHEDULER,
        "A first call of initialize leads from Uninitialized to Initializing and tells SchedulerInitializationStarted.",
    ),
    Clause(
        "scheduler.initialized",
        EVERY,
        _SCHEDULER,
        "When all tasks are scheduled it leads to Running, starts the loop and tells SchedulerInitializationCompleted.",
    ),
    Clause(
        "scheduler.invalid-list",
        EVERY,
        _SCHEDULER,
        "An invalid list leads back to Uninitialized, leaves nothing behind and tells SchedulerInitializationFailed.",
    ),
    Clause(
        "scheduler.cannot-schedule",
        EVERY,
        _SCHEDULER,
        "A list that cannot be recorded leads back to Uninitialized, leaves nothing behind and tells "
        "SchedulerInitializationFailed.",
    ),
    Clause(
        "scheduler.reinitializes",
        BOTH_POLLING,
        _SCHEDULER,
        "initialize while Running leads to Reinitializing, tells SchedulerReinitializationStarted and compares "
        "the lists.",
    ),
    Clause("scheduler.reinitialized", BOTH_POLLING, _SCHEDULER, "A re-initialisation that succeeds leads to Running."),
    Clause("scheduler.failed-again-stops", (DRAFT,), _SCHEDULER, "A re-initialisation that fails leads to Stopping."),
    Clause(
        "scheduler.failed-again-resets",
        (POLLING,),
        _SCHEDULER,
        "A re-initialisation that fails leads to Uninitialized.",
    ),
    Clause(
        "scheduler.rejects-while-running",
        (DECLARATIVE,),
        _SCHEDULER,
        "initialize while Running raises SchedulerAlreadyActiveError of state running, tells nothing and changes "
        "nothing.",
    ),
    Clause(
        "scheduler.rejects-while-initializing",
        (DECLARATIVE,),
        _SCHEDULER,
        "initialize while Initializing raises SchedulerAlreadyActiveError of state initializing and tells nothing.",
    ),
    Clause(
        "scheduler.rejects-while-stopping",
        (DECLARATIVE,),
        _SCHEDULER,
        "initialize while Stopping raises SchedulerAlreadyActiveError of state stopping.",
    ),
    Clause(
        "scheduler.stop-requested",
        EVERY,
        _SCHEDULER,
        "stop while Running leads to Stopping, tells SchedulerStopRequested, starts nothing more and waits for "
        "what runs.",
    ),
    Clause(
        "scheduler.stopped",
        EVERY,
        _SCHEDULER,
        "When no run is active, Stopping leads to Stopped and emits SchedulerStopped.",
    ),
    Clause("scheduler.restartable", EVERY, _SCHEDULER, "A scheduler that has stopped can be initialised again."),
    # --- task
    Clause(
        "task.three-states",
        EVERY,
        _TASK,
        "A task is in exactly one of three states: AwaitingRun, Running, AwaitingRetry.",
    ),
    Clause(
        "task.due",
        EVERY,
        _TASK,
        "A task that waits starts when its minute comes: the attempt is recorded and TaskRunStarted is emitted.",
    ),
    Clause("task.once-a-minute", EVERY, _TASK, "A task that has run in a minute does not start for this minute again."),
    Clause(
        "task.missed",
        EVERY,
        _TASK,
        "A task that waits starts when an occurrence since its last start was missed, whatever the minute is now.",
    ),
    Clause(
        "task.missed-before-its-time",
        EVERY,
        _TASK,
        "Occurrences before a task was first registered are not missed; those after it are, even if it never ran.",
    ),
    Clause(
        "task.succeeds",
        EVERY,
        _TASK,
        "A callback that returns leads to AwaitingRun: the success is recorded, a pending retry is cleared and "
        "TaskRunCompleted is emitted.",
    ),
    Clause(
        "task.fails",
        EVERY,
        _TASK,
        "A callback that raises leads to AwaitingRetry: the failure is recorded, a retry is allowed one delay after it "
        "and TaskRunFailed is emitted.",
    ),
    Clause(
        "task.retries",
        EVERY,
        _TASK,
        "When the retry is allowed the task starts: the retry is cleared, the attempt is recorded and TaskRetryStarted "
        "is emitted.",
    ),
    Clause(
        "task.preempted",
        EVERY,
        _TASK,
        "An occurrence that comes during AwaitingRetry clears the retry and starts the task: TaskRetryPreempted is "
        "emitted, then TaskRunStarted.",
    ),
    # --- times
    Clause(
        "stamps.last-attempt", EVERY, _STAMPS, "The start of the latest attempt is kept, whether it succeeds or fails."
    ),
    Clause(
        "stamps.last-success", EVERY, _STAMPS, "The end of the latest success is kept, also through later failures."
    ),
    Clause("stamps.last-failure", EVERY, _STAMPS, "The end of the latest failure is kept."),
    Clause(
        "stamps.retry-until", EVERY, _STAMPS, "The time from which a retry is allowed is kept while one is awaited."
    ),
    # --- polling
    Clause(
        "polling.begins", EVERY, _POLLING, "The first scheduled task makes the loop Active and tells PollingStarted."
    ),
    Clause(
        "polling.last-task-cancelled",
        EVERY,
        _POLLING,
        "The cancellation of the last task makes the loop Inactive and tells PollingStopped.",
    ),
    Clause(
        "polling.stop-requested",
        EVERY,
        _POLLING,
        "A stop makes an Active loop Stopping and tells PollingStopRequested.",
    ),
    Clause(
        "polling.ends",
        EVERY,
        _POLLING,
        "When all that runs has ended a Stopping loop is Inactive and tells PollingStopped.",
    ),
    Clause(
        "polling.inactive-without-tasks",
        EVERY,
        _POLLING,
        "Without a scheduled task no loop runs, although the scheduler is Running.",
    ),
)
