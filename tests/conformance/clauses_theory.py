"""THEORY: the theory's properties of every trace, its assumptions, and the real-time targets."""

from tests.conformance.clause import DECLARATIVE, DRAFT, POLLING, Clause

_THEORY = "Formal theory"
_WORLD = "Assumptions about the environment"
_TARGETS = "Targets in real time"
_RESOURCES = "Limits on resources"
_PROPERTIES = "theory/test_properties"
_CAUGHT = f"{_PROPERTIES}::test_the_shortest_trace_that_violates_it_is_caught_where_it_does"
_AT_A_CRASH = f"{_PROPERTIES}::test_at_a_crash_everything_is_frozen_unless_something_acts"
_OPEN = f"{_PROPERTIES}::test_a_property_about_recurrence_is_never_decided_and_does_not_count"


def _row(section: str, name: str, sentence: str, *shown_by: str) -> Clause:
    return Clause(name, (DECLARATIVE,), section, sentence, shown_by=shown_by)


THEORY = (
    _row(_THEORY, "theory.start-safety", "S1: a run starts only after an obligation to run.", _CAUGHT),
    _row(_THEORY, "theory.conservation", "S2: of the starts for one due instant at most one succeeds.", _CAUGHT),
    _row(_THEORY, "theory.stop-end", "S3: a stop returns only when nothing runs.", _CAUGHT),
    _row(_THEORY, "theory.ends-follow-starts", "S4: every end belongs to a run in flight.", _CAUGHT),
    _row(
        _THEORY,
        "theory.registrations",
        "S6: a valid list is accepted, unless one is active or the world fails; an invalid list is refused.",
        _CAUGHT,
    ),
    _row(_THEORY, "theory.duplicates", "A list with the same task twice is not valid."),
    _row(
        _THEORY, "theory.obligations", "L1: an obligation is followed by a start within the bound, or it ends.", _CAUGHT
    ),
    _row(
        _THEORY,
        "theory.initialization-ends",
        "L2: initialize returns within the bound, unless a crash comes first.",
        _CAUGHT,
    ),
    _row(_THEORY, "theory.stop-ends", "L3: when all runs have ended, stop returns.", _CAUGHT),
    _row(
        _THEORY,
        "theory.linear",
        "The work for an obligation, and that of an initialisation, grows linearly with the list.",
        "engine/tasks/test_step::test_a_task_that_is_not_due_is_not_evaluated",
    ),
    _row(
        _THEORY, "theory.quiet-after-crash", "T1: after a crash nothing starts before a successful initialize.", _CAUGHT
    ),
    _row(_THEORY, "theory.no-overlap", "T2: a task does not start while it runs.", _CAUGHT),
    _row(
        _THEORY, "theory.quiet-after-stop", "T3: after a stop nothing starts before a successful initialize.", _CAUGHT
    ),
    _row(
        _THEORY,
        "theory.crash-dominates",
        "T4: nothing starts, ends, begins or returns at the instant of a crash.",
        _CAUGHT,
        _AT_A_CRASH,
    ),
    _row(
        _THEORY,
        "theory.first-coming",
        "A task that was not in the list before owes nothing for the past, also if it was in an earlier list.",
    ),
    _row(
        _THEORY,
        "theory.due-pending",
        "Due instants while a task runs, or while nothing can run, are one demand together.",
    ),
    _row(
        _THEORY, "theory.retry-pending", "A retry is demanded from the failure plus the delay on, until the next start."
    ),
    _row(_THEORY, "theory.orphaned-pending", "A run that a crash cut off is demanded again until the next start."),
    _row(
        _THEORY,
        "theory.repairs",
        "Formulas that contradict each other or their text are repaired, each with a trace that shows the difference.",
        "theory/test_repairs::test_a_witness_distinguishes_the_two_formulas",
        "theory/test_repairs::test_the_repaired_formula_says_on_the_witness_what_it_means",
    ),
    # --- the environment
    _row(_WORLD, "world.crash", "E1: nothing progresses at a crash.", _AT_A_CRASH),
    _row(_WORLD, "world.frozen", "E2: nothing acts while everything is frozen.", _CAUGHT),
    _row(_WORLD, "world.one-action", "E3: no two actions share a position, nor do an action and a Due.", _CAUGHT),
    _row(_WORLD, "world.freezes-recur", "E4, A1: freezes recur and end; no finite trace decides it.", _OPEN),
    _row(
        _WORLD,
        "world.dues-recur",
        "E5: a schedule matches again and again, or never; one that never matches is refused.",
        _OPEN,
        "cron/test_never_matching::test_a_day_that_no_named_month_has_is_refused",
    ),
    _row(_WORLD, "world.no-end-after-crash", "E6: after a crash nothing ends before it has started again.", _CAUGHT),
    _row(
        _WORLD,
        "world.runs-end",
        "A2: every run ends or is cut off by a crash.",
        f"{_PROPERTIES}::test_a_run_in_flight_at_the_end_of_all_things_never_ends",
        f"{_PROPERTIES}::test_a_verdict_that_needs_a_longer_trace_is_open",
    ),
    _row(
        _WORLD, "world.low-lag", "A3: the lag is below one minute.", f"{_PROPERTIES}::test_a_lag_of_a_minute_is_not_low"
    ),
    # --- targets
    _row(
        _TARGETS,
        "target.start",
        "R1: a due task starts within about a minute of its minute boundary, whatever else is due with it.",
    ),
    _row(
        _TARGETS,
        "target.grows",
        "R1, R2: the bound grows by a minute for each 10,000 tasks.",
        "theory/test_lists::test_a_long_list_gives_more_time_only_where_the_contract_says_so",
    ),
    _row(
        _TARGETS,
        "target.recovery",
        "R2: a run that a restart cut off starts again within about a minute of the restart.",
    ),
    _row(
        _TARGETS,
        "target.deviations",
        "Deviations from the targets are shown in the log: late starts, a loop that stood still.",
        "hosts/library/test_faults::test_a_start_that_a_limit_delays_beyond_the_promise_is_reported",
        "hosts/library/test_faults::test_a_loop_that_stood_still_is_reported",
    ),
    # --- resources
    Clause("resources.most-runs", (DRAFT,), _RESOURCES, "The number of runs at one time can be limited."),
    Clause("resources.timeout", (DRAFT,), _RESOURCES, "The duration of a run can be limited."),
    Clause(
        "resources.no-leaks",
        (DRAFT,),
        _RESOURCES,
        "A polling loop that runs for long does not use more and more memory.",
    ),
)

FOREVER = (
    Clause(
        "trace.starts-for-ever",
        (POLLING,),
        "Properties of every trace",
        "P15: a task that is due again and again starts again and again, as long as its list is active.",
    ),
    Clause(
        "trace.stop-terminates",
        (POLLING,),
        "Properties of every trace",
        "P16: a stop returns when all runs have ended, and then nothing starts before the next initialisation.",
    ),
    Clause(
        "trace.recovers",
        (POLLING,),
        "Properties of every trace",
        "P17: after a crash and an initialisation a task that is due again and again starts again and again.",
    ),
)
