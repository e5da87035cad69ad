"""STORE: clauses on records and overrides, concurrency, idempotency and bad input."""

from tests.conformance.clause import BOTH_POLLING, DECLARATIVE, DRAFT, EVERY, POLLING, Clause

_RECORDS = "Records and overrides"
_AT_ONCE = "Concurrency and reentrancy"
_AGAIN = "Determinism and idempotency"
_INPUT = "Input and failures"

STORE = (
    Clause(
        "override.compares",
        EVERY,
        _RECORDS,
        "initialize compares its list with the records and sorts every task into exactly one class.",
    ),
    Clause(
        "override.new",
        EVERY,
        _RECORDS,
        "A task without a record is new: it gets a record and the rule of the first start.",
    ),
    Clause(
        "override.preserved",
        EVERY,
        _RECORDS,
        "A task whose record has the same configuration is preserved: its history is kept and it goes on.",
    ),
    Clause(
        "override.resets",
        BOTH_POLLING,
        _RECORDS,
        "A task whose record has another configuration is overridden: the new one is recorded, the history is reset.",
    ),
    Clause(
        "override.keeps",
        (DECLARATIVE,),
        _RECORDS,
        "A task whose record has another configuration is overridden: the new one is recorded, the history is kept.",
    ),
    Clause(
        "override.unregistered-is-orphaned",
        BOTH_POLLING,
        _RECORDS,
        "A task with a record that is not registered is orphaned: its record is removed and nothing of it runs.",
    ),
    Clause(
        "override.unregistered-is-forgotten",
        (DECLARATIVE,),
        _RECORDS,
        "The record of a task that is not registered is removed, nothing of it runs, and it is new if it comes back.",
    ),
    Clause(
        "override.interrupted-is-orphaned",
        (DECLARATIVE,),
        _RECORDS,
        "A registered task that an earlier instance started and did not finish is orphaned: it restarts at once, with "
        "its new configuration if that changed.",
    ),
    Clause(
        "override.interrupted-waits",
        (DRAFT,),
        _RECORDS,
        "A run that was cut off is not restarted for its own sake; the task waits for its next occurrence.",
    ),
    Clause(
        "override.identical",
        EVERY,
        _RECORDS,
        "A configuration is the same if and only if name, cron text and retry delay are exactly the same.",
    ),
    Clause("override.any-difference", EVERY, _RECORDS, "Any difference in cron text or retry delay is an override."),
    Clause("identifier.unique", EVERY, _RECORDS, "A scheduler makes itself an identifier that no other has."),
    Clause(
        "identifier.tells-instances-apart",
        EVERY,
        _RECORDS,
        "By the identifier a scheduler tells what another instance left behind from its own.",
    ),
    Clause("identifier.in-every-record", BOTH_POLLING, _RECORDS, "Every record has the identifier of its scheduler."),
    Clause(
        "identifier.while-running",
        (DECLARATIVE,),
        _RECORDS,
        "The record of a task that runs has the identifier of the scheduler that runs it.",
    ),
    Clause("override.atomic", EVERY, _RECORDS, "The overrides of one list are recorded all together or not at all."),
    Clause(
        "override.failure-restores",
        EVERY,
        _RECORDS,
        "When an override fails, the records are as before and the call raises an error.",
    ),
    Clause(
        "override.failure-is-schedule-task-error",
        BOTH_POLLING,
        _RECORDS,
        "The error of a failed override is ScheduleTaskError.",
    ),
    # --- concurrency
    Clause("concurrent.parallel", EVERY, _AT_ONCE, "Several tasks can run at the same time."),
    Clause("concurrent.no-order", EVERY, _AT_ONCE, "Between tasks that start together no order is promised or needed."),
    Clause("concurrent.serial", EVERY, _AT_ONCE, "One task never runs twice at the same time."),
    Clause(
        "concurrent.initialize-prevented",
        (DRAFT,),
        _AT_ONCE,
        "Two calls of initialize never work at the same time: the second begins when the first has ended.",
    ),
    Clause(
        "concurrent.initialize-allowed",
        (POLLING,),
        _AT_ONCE,
        "initialize may be called several times at once: equal lists share one result, others follow one another.",
    ),
    Clause(
        "concurrent.initialize-first-wins",
        (DECLARATIVE,),
        _AT_ONCE,
        "initialize may be called several times at once: the first wins, the others are refused and change nothing.",
    ),
    Clause("concurrent.stop-during-initialize", EVERY, _AT_ONCE, "stop may be called while initialize is at work."),
    Clause("concurrent.stop-waits-for-initialize", EVERY, _AT_ONCE, "stop waits for an initialize that is at work."),
    Clause("resources.stop-waits-for-runs", EVERY, _AT_ONCE, "stop returns when all that was running has ended."),
    Clause(
        "resources.polling-cleaned-up",
        EVERY,
        _AT_ONCE,
        "stop ends the loop, also when the runs that it waited for have failed.",
    ),
    Clause("resources.failures-stay-apart", EVERY, _AT_ONCE, "The failure of one run leaves all others alone."),
    # --- again
    Clause(
        "again.selection-is-deterministic",
        EVERY,
        _AGAIN,
        "The same list, the same records and the same time select the same tasks.",
    ),
    Clause("again.same-list", BOTH_POLLING, _AGAIN, "initialize again with the same list changes nothing."),
    Clause(
        "again.refused-list",
        (DECLARATIVE,),
        _AGAIN,
        "initialize again with the same list is refused and changes nothing.",
    ),
    Clause(
        "again.no-duplicates",
        EVERY,
        _AGAIN,
        "Later calls of initialize never make a task run twice for one occurrence.",
    ),
    Clause(
        "again.overrides-detected", EVERY, _AGAIN, "Every later list is compared again: what changed is overridden."
    ),
    Clause("again.same-state-written", EVERY, _AGAIN, "Recording the same state again is harmless."),
    Clause("again.partial-failure", EVERY, _AGAIN, "A write that fails leaves no half of itself behind."),
    Clause("again.crash", EVERY, _AGAIN, "After a crash the records are consistent and the tasks go on."),
    # --- input
    Clause("input.checked-first", (DRAFT,), _INPUT, "All input is checked before any of it is used."),
    Clause("input.dangerous-cron", (DRAFT,), _INPUT, "Cron expressions that could do harm are refused."),
    Clause("input.names-in-logs", (DRAFT,), _INPUT, "The name of a task cannot forge or break a line of the log."),
    Clause("failures.no-internals", (DRAFT,), _INPUT, "Messages of errors tell nothing of the inside of the program."),
    Clause("failures.refusals-logged", (DRAFT,), _INPUT, "What is refused is logged."),
    Clause(
        "failures.exhaustion", (DRAFT,), _INPUT, "When a resource runs out nothing is lost and the scheduler goes on."
    ),
)
