"""TRACES: clauses on every trace of observable events, and the invariants that need a test."""

from tests.conformance.clause import DRAFT, POLLING, Clause

_TRACES = "Properties of every trace"
_INVARIANTS = "Testable invariants"
_P = (POLLING,)
_D = (DRAFT,)

TRACES = (
    Clause("trace.ends-have-starts", _P, _TRACES, "Every end of a run belongs to one start before it."),
    Clause("trace.no-overlap", _P, _TRACES, "Between two starts of a task lies the end of the first, or a crash."),
    Clause(
        "trace.eligibility",
        _P,
        _TRACES,
        "A task starts only while it is registered, the scheduler is active, and a run is owed.",
    ),
    Clause(
        "trace.no-make-up",
        _P,
        _TRACES,
        "After a pause at most one start comes before the next occurrence, unless it fails.",
    ),
    Clause("trace.quiet-after-stop", _P, _TRACES, "After a stop nothing starts before the next initialisation."),
    Clause(
        "trace.crash-consistency",
        _P,
        _TRACES,
        "After a crash nothing starts before an initialisation, and no run ends that did not start again.",
    ),
    Clause("trace.stop-flushes", _P, _TRACES, "Every run in flight when a stop begins has ended when the stop ends."),
    Clause(
        "trace.interrupted-restarts",
        _P,
        _TRACES,
        "A run that a crash cut off starts again, within a minute of the next initialisation that has its task.",
    ),
    Clause("trace.one-start-for-both", _P, _TRACES, "An occurrence and a retry that fall together give one start."),
    Clause(
        "trace.one-start-per-occurrence",
        _P,
        _TRACES,
        "Between two occurrences with no failure and no crash lies at most one start.",
    ),
    Clause(
        "trace.bounded-lag",
        _P,
        _TRACES,
        "A due task of an active scheduler starts within one minute, unless it is running.",
    ),
    Clause("trace.no-invented-ends", _P, _TRACES, "After a crash no end is recorded for a run from before it."),
    Clause("trace.later-list-replaces", _P, _TRACES, "The list of a later initialisation replaces the earlier one."),
    Clause(
        "trace.due",
        _P,
        _TRACES,
        "A task is due if and only if a minute begins whose calendar time its expression matches.",
    ),
    # --- invariants
    Clause("invariant.empty-list", _D, _INVARIANTS, "initialize with an empty list, then stop, ends without an error."),
    Clause("invariant.idempotent", _D, _INVARIANTS, "initialize twice with one valid list is as good as once."),
    Clause("invariant.stop-first", _D, _INVARIANTS, "stop before any initialize ends without an error."),
    Clause("invariant.on-time", _D, _INVARIANTS, "A task of the present minute runs in a reasonable time."),
    Clause("invariant.not-early", _D, _INVARIANTS, "A task of a later minute does not run early."),
    Clause(
        "invariant.no-make-up", _D, _INVARIANTS, "After a long downtime missed runs are not made up for one by one."
    ),
    Clause("invariant.state-persists", _D, _INVARIANTS, "The state of a task survives a restart."),
    Clause("invariant.changes-detected", _D, _INVARIANTS, "A changed configuration is recognised as changed."),
    Clause("invariant.orphans-removed", _D, _INVARIANTS, "Nothing is left of orphaned tasks."),
    Clause("invariant.right-error", _D, _INVARIANTS, "An invalid registration raises the error of its kind."),
    Clause("invariant.error-details", _D, _INVARIANTS, "An error has the details of its kind."),
    Clause("invariant.error-first", _D, _INVARIANTS, "An error is raised before anything has been done."),
    Clause("invariant.simultaneous", _D, _INVARIANTS, "Several tasks can run simultaneously."),
    Clause("invariant.never-with-itself", _D, _INVARIANTS, "A task never runs simultaneously with itself."),
    Clause("invariant.stop-waits", _D, _INVARIANTS, "stop waits for every run in flight."),
)
