"""HOSTS: what the contract `kron` demands of hosts: idempotency, changes, clocks, observability."""

from tests.conformance.clause import KRON, Clause

_DECIDE = "decision/test_decide"
_ALIVE = "engine/jobs/test_periods"
_LIVES = "engine/jobs/test_lives"
_JUDGE = "theory/test_periods::test_the_shortest_trace_that_violates_it_is_caught_where_it_does"
_ONCE = "Idempotency"
_STATE = "States of a period"
_CHANGE = "Changed definitions"
_CLOCK = "Clock changes"
_SHOWN = "Observability"
_GUARANTEE = "Invariants"
_STABLE = "Compatibility"


def _row(section: str, name: str, sentence: str, *shown_by: str) -> Clause:
    return Clause(name, (KRON,), section, sentence, shown_by=shown_by)


HOSTS = (
    _row(
        _ONCE,
        "once.per-period",
        "There is at most one execution for an identity and a period.",
        "engine/jobs/test_remembering::test_no_period_gets_a_second_outcome",
        "adapters/test_job_ledgers::test_sqlite",
    ),
    _row(
        _ONCE,
        "once.checked-first",
        "A host makes sure of that before it starts an execution.",
        f"{_ALIVE}::test_a_start_is_recorded_before_it_happens",
    ),
    _row(
        _ONCE,
        "once.cluster",
        "The operator looks for a Job of the period before it creates one.",
        "hosts/operator/test_faults::test_a_job_whose_answer_was_lost_is_found_and_not_made_again",
        "hosts/operator/test_crashes::test_a_job_that_ran_before_the_status_was_written_is_found_after_a_restart",
        "hosts/operator/test_reign::test_a_job_deleted_by_hand_ends_its_execution_and_is_never_made_again",
    ),
    _row(
        _ONCE,
        "once.daemon",
        "krond looks at its records, and at executions that are still active, before it starts one.",
        f"{_LIVES}::test_a_run_that_survived_is_active_and_its_time_counts_from_its_start",
        "hosts/krond/test_daemon::test_what_survives_a_killed_krond_is_active_in_the_next_and_ends_unknown",
    ),
    _row(
        _ONCE,
        "once.started-is-handled",
        "A period whose execution is recorded as started or completed is handled.",
        f"{_LIVES}::test_a_run_that_nobody_saw_end_is_unknown_and_is_not_run_again",
        f"{_LIVES}::test_a_stop_leaves_nothing_to_explain",
        f"{_LIVES}::test_a_period_that_was_run_is_not_run_again_by_a_definition_that_would_choose_it_later",
    ),
    _row(_STATE, "state.planned", "A period whose decision is computed and whose second has not come is planned."),
    _row(_STATE, "state.eligible", "From its chosen time on it is eligible until it is handled."),
    _row(_STATE, "state.terminal", "A handled period is in one of the four terminal states."),
    _row(_STATE, "state.execution", "An execution is running from its start, and completed with a result at its end."),
    _row(
        _STATE,
        "state.monotonic",
        "States only advance: a terminal outcome never becomes another one.",
        _JUDGE,
        "adapters/test_job_ledgers::test_sqlite",
    ),
    _row(
        _CHANGE,
        "change.any-field",
        "A change of schedule, zone, window, distribution, constraints, seed or policy is a change of the definition.",
    ),
    _row(
        _CHANGE,
        "change.future",
        "A change applies from the first unhandled period on.",
        f"{_LIVES}::test_an_edit_runs_nothing_and_owns_what_is_chosen_after_it",
        "rules/test_redefinition::test_every_period_is_closed_once_or_comes_with_the_new_definition",
    ),
    _row(
        _CHANGE,
        "change.handled-stays",
        "Handled periods stay handled and are not executed again.",
        f"{_LIVES}::test_a_period_that_was_run_is_not_run_again_by_a_definition_that_would_choose_it_later",
        "rules/test_redefinition::test_handled_periods_stay_as_they_are",
    ),
    _row(
        _CHANGE,
        "change.active",
        "The concurrency policy of the new definition governs executions that are active.",
        "hosts/krond/test_reloading::test_a_job_that_is_gone_and_comes_back_is_active_while_it_runs",
    ),
    _row(
        _CLOCK,
        "clock.forward",
        "After a forward jump the periods in between are handled subject to deadline and idempotency.",
        f"{_ALIVE}::test_a_clock_that_is_set_forward_is_time_without_a_host",
    ),
    _row(
        _CLOCK,
        "clock.backward",
        "After a backward jump no handled period is handled again.",
        f"{_ALIVE}::test_a_clock_that_is_set_back_handles_nothing_again",
        "faults/test_clock::test_a_clock_that_is_set_back_and_forth_runs_nothing_twice_and_leaves_nothing_out",
    ),
    _row(_CLOCK, "clock.persisted", "Outcomes are stored, so that this also holds after a restart."),
    _row(_SHOWN, "shown.period", "Of each period a host shows period id, nominal time, chosen time and outcome."),
    _row(_SHOWN, "shown.reason", "Of a period without an execution it shows the reason."),
    _row(
        _SHOWN, "shown.decision", "It shows seed hash and distribution as they are needed to make the decision again."
    ),
    _row(
        _SHOWN,
        "shown.replay",
        "The log has all that is needed to make a decision again without the host.",
        "cli/test_explain::test_a_log_line_that_holds_a_decision_is_replayed",
        "hosts/operator/test_reign::test_a_decision_of_the_log_is_found_again_by_whoever_replays_it",
    ),
    _row(
        _GUARANTEE,
        "guarantee.window",
        "1. The chosen time is within the window.",
        f"{_DECIDE}::test_the_chosen_second_lies_in_the_window_or_there_is_a_reason",
        _JUDGE,
    ),
    _row(
        _GUARANTEE,
        "guarantee.once",
        "2. There is at most one execution for an identity and a period.",
        "hosts/operator/test_crashes::test_any_series_of_crashes_leaves_one_job_and_one_outcome_for_a_period",
        _JUDGE,
    ),
    _row(
        _GUARANTEE,
        "guarantee.deterministic",
        "3. The same inputs and the same period give the same chosen time.",
        f"{_DECIDE}::test_a_replayed_decision_is_equal",
        "decision/test_determinism::test_another_process_makes_the_same_decisions",
        _JUDGE,
    ),
    _row(
        _GUARANTEE,
        "guarantee.bounded",
        "4. History is not replayed without a bound.",
        f"{_LIVES}::test_a_year_of_downtime_is_one_record",
        f"{_LIVES}::test_after_downtime_the_latest_period_in_time_runs_and_the_others_are_closed",
        "hosts/operator/test_crashes::test_a_long_outage_is_one_entry",
        _JUDGE,
    ),
    _row(
        _GUARANTEE,
        "guarantee.permanent",
        "5. Terminal outcomes are permanent.",
        "adapters/test_job_ledgers::test_sqlite",
        "engine/jobs/test_remembering::test_no_period_gets_a_second_outcome",
        _JUDGE,
    ),
    _row(
        _GUARANTEE,
        "guarantee.suspension",
        "6. Suspension prevents executions and handles no period.",
        f"{_LIVES}::test_a_suspended_job_handles_nothing_and_is_judged_by_its_deadline_when_it_goes_on",
        _JUDGE,
    ),
    _row(
        _GUARANTEE,
        "guarantee.impossible",
        "7. A period that constraints leave without a second becomes unschedulable and is not executed.",
        f"{_ALIVE}::test_a_period_without_a_possible_second_is_unschedulable_when_its_window_begins",
        _JUDGE,
    ),
    _row(
        _STABLE,
        "stable.decisions",
        "Period ids, windows, seed hashes and chosen seconds are what they always were.",
        "decision/test_golden::test_a_decision_is_what_it_always_was",
        "decision/test_golden::test_a_recorded_decision_is_replayed_to_the_same_second",
    ),
    _row(
        _STABLE,
        "stable.additions",
        "Distributions, parameters and constraints may be added: a reader ignores fields that it does not know.",
        "decision/test_decision::test_fields_that_others_have_added_are_ignored",
    ),
    _row(
        _STABLE,
        "stable.version",
        "A decision names the version of its algorithm, and one of another version is refused.",
    ),
)
