"""HOSTS: clauses of the contract `kron` on hosts: idempotency, changes, clocks, observability."""

from tests.conformance.clause import KRON, Clause

_DECIDE = "decision/test_decide"
_ALIVE = "engine/jobs/test_periods"
_LIVES = "engine/jobs/test_lives"
_FREEZES = "engine/jobs/test_freezes"
_PLACES = "engine/jobs/test_freeze_places"
_ABSENT = "engine/jobs/test_absent"
_AHEAD = "hosts/krond/test_clock_ahead"
_FILES = "hosts/krond/test_failed_files"
_COST = "rules/test_outage_cost"
_REFUSED = "engine/jobs/test_refusals::test_an_outcome_that_the_planner_does_not_know_costs_one_period_of_one_job"
_KEPT = "hosts/krond/test_policy_mutants::test_a_host_that_keeps_its_policies_violates_nothing"
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
        _REFUSED,
    ),
    _row(
        _ONCE,
        "once.cluster",
        "The operator looks for a Job of the period before it creates one.",
        "hosts/operator/test_faults::test_a_job_whose_answer_was_lost_is_found_and_not_made_again",
        "hosts/operator/test_crashes::test_a_job_that_ran_before_the_status_was_written_is_found_after_a_restart",
        "hosts/operator/test_leader_session::test_a_job_deleted_by_hand_ends_its_execution_and_is_never_made_again",
    ),
    _row(
        _ONCE,
        "once.daemon",
        "krond looks at its records, and at executions that are still active, before it starts one.",
        f"{_LIVES}::test_a_run_that_survived_is_active_and_its_time_counts_from_its_start",
        "hosts/krond/test_daemon::test_a_process_that_survives_a_killed_krond_is_active_in_the_next_and_ends_unknown",
    ),
    _row(
        _ONCE,
        "once.started-is-handled",
        "A period whose execution is recorded as started or completed is handled.",
        f"{_LIVES}::test_a_run_with_an_unobserved_end_is_unknown_and_is_not_run_again",
        f"{_LIVES}::test_a_stop_leaves_nothing_to_explain",
        f"{_LIVES}::test_a_period_that_was_run_is_not_run_again_by_a_definition_that_would_choose_it_later",
        _REFUSED,
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
        "hosts/krond/test_reload::test_a_job_that_is_gone_and_comes_back_is_active_while_it_runs",
    ),
    _row(
        _CHANGE,
        "change.failed-file",
        "A file with errors stops no other file; at a reload its jobs stay as they were.",
        f"{_FILES}::test_krond_starts_the_sound_files_and_shows_the_failed_ones",
        f"{_FILES}::test_a_reload_takes_up_the_good_files_and_keeps_the_jobs_of_the_bad_one",
        "hosts/krond/test_file_reader::test_a_file_with_errors_takes_no_jobs_from_another_file",
    ),
    _row(
        _CHANGE,
        "change.repaired-file",
        "Jobs of a file that is repaired unchanged are judged as after downtime, and not declared as new.",
        f"{_ABSENT}::test_a_job_whose_file_fails_at_the_start_is_neither_run_nor_removed",
        f"{_ABSENT}::test_periods_of_a_repaired_file_are_judged_as_after_downtime",
        f"{_FILES}::test_the_jobs_of_a_file_that_is_repaired_after_a_start_are_not_declared_as_new",
    ),
    _row(
        _CLOCK,
        "clock.forward",
        "After a forward jump the periods in between are handled subject to deadline and idempotency.",
        f"{_ALIVE}::test_a_clock_that_is_set_forward_is_time_without_a_host",
        f"{_PLACES}::test_a_clock_that_is_set_forward_while_the_ledger_is_waited_for_is_time_without_a_host",
    ),
    _row(
        _CLOCK,
        "clock.backward",
        "After a backward jump no handled period is handled again.",
        f"{_ALIVE}::test_a_clock_that_is_set_back_handles_nothing_again",
        "faults/test_clock::test_a_clock_that_is_set_back_and_forth_runs_nothing_twice_and_leaves_nothing_out",
    ),
    _row(_CLOCK, "clock.persisted", "Outcomes are stored, so that this also holds after a restart."),
    _row(
        _CLOCK,
        "clock.ahead",
        "Of periods that were handled while the clock was ahead, status, page and why say so and until when.",
        f"{_AHEAD}::test_status_says_until_when_periods_are_handled",
        f"{_AHEAD}::test_the_pages_say_it",
        f"{_AHEAD}::test_why_says_it_of_a_period_that_ran_by_the_clock_that_was_ahead",
        f"{_AHEAD}::test_why_says_it_of_a_period_that_was_missed_by_the_clock_that_was_ahead",
    ),
    _row(
        _CLOCK,
        "clock.freeze",
        "A loop that wakes up later than planned by more than the slack was frozen: that is downtime, without slack.",
        f"{_FREEZES}::test_after_a_freeze_the_newest_period_runs_and_the_others_are_superseded",
        f"{_FREEZES}::test_periods_of_a_freeze_beyond_their_deadline_are_missed_as_one_range",
        f"{_FREEZES}::test_a_freeze_gets_no_slack",
        "hosts/operator/test_freezes::test_after_a_freeze_the_newest_period_runs_and_the_others_are_superseded",
    ),
    _row(
        _CLOCK,
        "clock.stall",
        "A shorter delay is a stall: each period is judged with slack. An idle loop in time is not late.",
        f"{_FREEZES}::test_after_a_stall_each_period_is_judged",
        f"{_FREEZES}::test_a_delay_of_exactly_the_slack_is_a_stall_and_a_longer_one_is_a_freeze",
        f"{_FREEZES}::test_an_idle_loop_that_sleeps_its_full_minute_is_neither_frozen_nor_stalled",
    ),
    _row(
        _CLOCK,
        "clock.ledger-is-no-freeze",
        "Time that a host spends waiting for its ledger is no delay.",
        f"{_PLACES}::test_an_append_that_hangs_is_no_freeze",
        "rules/test_outage::test_waiting_for_the_ledger_is_no_delay_as_far_as_the_process_ran",
    ),
    _row(
        _CLOCK,
        "clock.ends-first",
        "Ends of runs that came during a delay are taken up before any period is judged.",
        f"{_FREEZES}::test_a_run_that_ended_in_a_freeze_does_not_skip_the_newest_period",
        f"{_FREEZES}::test_a_run_that_ended_in_a_stall_does_not_skip_the_next_period",
    ),
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
        "hosts/operator/test_leader_session::test_a_logged_decision_replays_to_the_same_decision",
        "cli/test_replay::test_a_log_alone_gives_every_decision_that_an_independent_computation_gives",
    ),
    _row(
        _SHOWN,
        "shown.range",
        "The event of a range has the schedule line, the first and the last period and their number.",
        "cli/test_replay::test_the_event_of_a_range_has_the_schedule_line_its_first_and_its_last_period_and_their_number",
        "cli/test_replay::test_the_line_of_a_range_says_all_that_influences_its_decisions",
        "cli/test_replay::test_a_log_alone_gives_every_decision_that_an_independent_computation_gives",
        "hosts/operator/test_leader_session::test_every_period_of_an_outage_is_computed_from_the_log_alone",
    ),
    _row(
        _SHOWN,
        "shown.next-seed",
        "A host shows the seed hash of the next decision.",
        f"{_AHEAD}::test_jobs_say_until_when_each_is_handled_and_the_seed_of_the_next_decision",
        f"{_AHEAD}::test_status_names_the_next_run_of_all_jobs",
        "hosts/operator/test_leader_session::test_the_status_has_the_seed_hash_of_the_next_period",
    ),
    _row(
        _GUARANTEE,
        "guarantee.window",
        "1. The chosen time is within the window.",
        f"{_DECIDE}::test_the_chosen_second_is_in_the_window_or_there_is_a_reason",
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
        f"{_COST}::test_the_cost_of_a_year_is_that_of_a_few_periods",
        _JUDGE,
    ),
    _row(
        _GUARANTEE,
        "guarantee.newest-decided",
        "Of periods that constraints may leave without a time, the newest 10,000 are decided; older share an outcome.",
        f"{_COST}::test_of_a_long_time_with_constraints_the_newest_periods_are_decided_one_by_one",
        f"{_COST}::test_older_periods_are_missed_if_constraints_leave_the_newest_ones_without_a_time",
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
    _row(_GUARANTEE, "guarantee.not-early", "I8: no attempt starts before the chosen time.", _JUDGE, _KEPT),
    _row(
        _GUARANTEE,
        "guarantee.deadline",
        "I9: an executed period was accepted no later than its deadline and the slack allow.",
        _JUDGE,
        _KEPT,
        "theory/test_policies::test_the_slack_of_the_host_is_added_to_a_deadline",
    ),
    _row(_GUARANTEE, "guarantee.no-overlap", "I10: runs of a job that forbids overlaps never overlap.", _JUDGE, _KEPT),
    _row(_GUARANTEE, "guarantee.one-success", "I11: a period succeeds at most once.", _JUDGE, _KEPT),
    _row(_GUARANTEE, "guarantee.retries", "I12: a period is retried only as often as its job allows.", _JUDGE, _KEPT),
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
