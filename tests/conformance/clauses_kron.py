"""PERIODS: what the contract `kron` demands of decisions, of outcomes, and of the hosts that act on them."""

from tests.conformance.clause import KRON, Clause

_DECIDE = "decision/test_decide"
_SEED = "decision/test_seed"
_CONSTRAINT = "decision/test_constraint"
_VERDICT = "rules/test_verdict"
_ALIVE = "engine/jobs/test_periods"
_LIVES = "engine/jobs/test_lives"
_JUDGE = "theory/test_periods::test_the_shortest_trace_that_violates_it_is_caught_where_it_does"


def _row(section: str, name: str, sentence: str, *shown_by: str) -> Clause:
    return Clause(name, (KRON,), section, sentence, shown_by=shown_by)


_SCOPE = "Hosts and time"
_INPUT = "Job definitions"
_PERIOD = "Periods"
_WINDOW = "Windows"
_DISTRIBUTION = "Distributions"
_SEEDS = "Seeds"
_CONSTRAINTS = "Constraints"
_DECISION = "Decisions"
_OUTCOME = "Outcomes"
_TRIGGER = "Triggers"
_DEADLINE = "Deadlines"
_OVERLAP = "Concurrency of executions"
_ONCE = "Idempotency"
_STATE = "States of a period"
_CHANGE = "Changed definitions"
_CLOCK = "Clock changes"
_SHOWN = "Observability"
_GUARANTEE = "Invariants"
_STABLE = "Compatibility"

PERIODS = (
    _row(
        _SCOPE,
        "hosts.one-contract",
        "krond and the operator choose the seconds that the core chooses for the same definition.",
        "decision/test_timing::test_the_spec_of_a_kronjob_names_the_same_timing",
        "decision/test_timing::test_a_toml_table_names_the_same_timing",
        "cli/test_k8s_cluster::test_a_second_of_the_cluster_is_that_of_the_library",
    ),
    _row(
        _SCOPE,
        "hosts.utc",
        "All comparisons are made between instants in UTC.",
        "cron/test_search::test_what_comes_out_is_in_utc_whatever_the_zone",
        f"{_DECIDE}::test_the_nominal_time_may_be_given_in_any_zone",
    ),
    _row(_SCOPE, "hosts.zone", "Schedules and constraints are read in the time zone of the job."),
    _row(_SCOPE, "hosts.stored-times", "All stored times are texts in RFC 3339, in UTC."),
    _row(
        _SCOPE,
        "hosts.whole-seconds",
        "Chosen times are whole seconds, and the same inputs give the same second.",
        f"{_DECIDE}::test_a_fraction_of_a_second_in_the_nominal_time_is_dropped",
        "decision/test_window::test_both_bounds_are_floored_to_whole_seconds",
    ),
    _row(
        _SCOPE,
        "hosts.now-is-an-input",
        "The present is an input: what becomes of a period depends on no other clock.",
        f"{_VERDICT}::test_a_period_before_its_chosen_second_waits_for_it",
        "decision/test_determinism::test_another_process_makes_the_same_decisions",
    ),
    # --- job definitions
    _row(
        _INPUT,
        "definition.identity",
        "A job has a stable identity, and a cron expression as its schedule.",
        f"{_SEED}::test_an_identity_is_one_line_of_text_that_utf_8_can_hold",
        "decision/test_timing_errors::test_a_definition_needs_a_schedule",
        "hosts/krond/test_job_files::test_the_identity_has_the_absolute_normalised_path_and_keeps_links",
    ),
    _row(
        _INPUT,
        "definition.timezone",
        "The time zone is optional; without one it is UTC.",
        "decision/test_line::test_a_line_without_modifiers_has_the_defaults",
        "decision/test_timing_errors::test_an_unknown_zone_is_refused",
    ),
    _row(
        _INPUT,
        "definition.window",
        "A window has the mode after or around, and a duration of zero or more.",
        "decision/test_window::test_a_duration_below_zero_is_refused",
        "decision/test_timing_errors::test_a_value_that_is_not_right_is_refused_with_the_name_of_its_field",
    ),
    _row(
        _INPUT,
        "definition.distribution",
        "A distribution is a name with parameters; unknown ones are refused.",
        "decision/test_distribution_errors::test_an_unknown_name_is_refused_with_the_known_ones",
        "decision/test_distribution_errors::test_a_parameter_of_another_distribution_is_refused_with_the_known_ones",
    ),
    _row(
        _INPUT,
        "definition.seed",
        "The seed has a strategy and an optional salt.",
        "decision/test_line::test_a_line_without_modifiers_has_the_defaults",
        "decision/test_timing_errors::test_a_value_that_is_not_right_is_refused_with_the_name_of_its_field",
    ),
    _row(
        _INPUT,
        "definition.constraints",
        "Constraints are optional: only, avoid, or both.",
        f"{_CONSTRAINT}::test_without_clauses_everything_is_allowed",
        f"{_CONSTRAINT}::test_avoid_cuts_holes_into_only",
    ),
    _row(
        _INPUT,
        "definition.policy",
        "The policy has concurrency (allow, forbid, replace), deadline (default 0s) and suspend (default false).",
        "rules/test_policy::test_without_a_policy_runs_do_not_overlap_may_not_be_late_and_are_not_suspended",
        "rules/test_policy::test_a_bad_value_in_a_table_is_refused_with_its_field",
    ),
    # --- periods
    _row(
        _PERIOD,
        "period.previous",
        "The previous nominal time of an instant is the greatest that is not after it.",
        "cron/test_search::test_previous_is_at_or_before",
    ),
    _row(
        _PERIOD,
        "period.next",
        "The next nominal time of an instant is the smallest that is after it.",
        "cron/test_search::test_next_is_strictly_after",
        "cron/test_search::test_the_next_occurrence_is_its_own_previous_and_nothing_lies_between",
    ),
    _row(_PERIOD, "period.nominal", "A period is identified by its nominal time: each nominal time is one period."),
    _row(
        _PERIOD,
        "period.id",
        "The period id is the nominal time in RFC 3339, in UTC.",
        f"{_SEED}::test_a_period_is_called_by_its_nominal_time_in_utc",
    ),
    _row(
        _PERIOD,
        "period.any-zone",
        "The same nominal instant is the same period, whatever zone it is written in.",
        f"{_DECIDE}::test_the_nominal_time_may_be_given_in_any_zone",
        "theory/test_periods::test_one_nominal_instant_is_one_period_in_any_zone",
    ),
    # --- windows
    _row(_WINDOW, "window.after", "A window `after` goes from the nominal time N to N + D."),
    _row(_WINDOW, "window.around", "A window `around` goes from N - D/2 to N + D/2."),
    _row(
        _WINDOW,
        "window.inclusive",
        "Both bounds belong to the window: the first and the last second can be chosen.",
        "decision/test_distribution::test_every_distribution_can_choose_the_first_and_the_last_second",
        f"{_DECIDE}::test_both_ends_of_a_short_window_are_chosen_in_time",
    ),
    _row(
        _WINDOW,
        "window.contains-chosen",
        "The chosen time is never before the start of the window and never after its end.",
        f"{_DECIDE}::test_the_chosen_second_lies_in_the_window_or_there_is_a_reason",
    ),
    _row(
        _WINDOW,
        "window.zero",
        "Without a duration the chosen time is the nominal time.",
        "decision/test_window::test_without_a_window_the_nominal_time_is_chosen",
        f"{_DECIDE}::test_a_window_of_length_zero_is_its_only_second_without_an_attempt",
    ),
    # --- distributions
    _row(
        _DISTRIBUTION,
        "distribution.bounded",
        "No distribution chooses a second outside of the window.",
        f"{_DECIDE}::test_the_chosen_second_lies_in_the_window_or_there_is_a_reason",
        "decision/test_distribution::test_a_normal_of_huge_sigma_is_uniform",
    ),
    _row(
        _DISTRIBUTION,
        "distribution.defaults",
        "A parameter that is missing has a default that depends on the window alone.",
        "decision/test_distribution::test_a_normal_has_its_mean_in_the_middle_and_a_sixth_of_the_window_as_sigma",
        "decision/test_distribution::test_the_defaults_of_the_others_depend_on_nothing",
        "decision/test_decision::test_a_decision_states_every_parameter_of_its_distribution",
    ),
    _row(
        _DISTRIBUTION,
        "distribution.deterministic",
        "The same inputs give the same second.",
        "decision/test_determinism::test_deciding_again_and_in_another_order_changes_nothing",
        f"{_DECIDE}::test_kron_and_the_reference_make_the_same_decision",
    ),
    _row(
        _DISTRIBUTION,
        "distribution.follows",
        "Each distribution maps the seeded stream to the window as its definition says.",
        "decision/test_distribution::test_a_large_sample_follows_the_distribution_function",
        "decision/test_golden::test_the_reference_decides_the_same",
    ),
    # --- seeds
    _row(_SEEDS, "seed.restarts", "A restart of the process changes no chosen time."),
    _row(
        _SEEDS,
        "seed.leaders",
        "A change of the leader changes no chosen time.",
        "hosts/operator/test_crashes::test_two_leaders_create_one_job_and_write_one_entry_for_a_period",
        "decision/test_determinism::test_another_process_makes_the_same_decisions",
    ),
    _row(_SEEDS, "seed.reconciliations", "How often a host reconciles its jobs changes no chosen time."),
    _row(
        _SEEDS,
        "seed.inputs",
        "The seed depends on identity, period key and salt, and on nothing else.",
        f"{_SEED}::test_a_different_salt_or_identity_moves_the_choice",
        f"{_DECIDE}::test_the_schedule_itself_does_not_enter_the_decision",
    ),
    _row(
        _SEEDS,
        "seed.stable",
        "The key of `stable` is the period id.",
        f"{_SEED}::test_the_stable_key_is_the_period_itself",
    ),
    _row(
        _SEEDS,
        "seed.daily",
        "The key of `daily` is the date of the nominal time in the zone of the job.",
        f"{_SEED}::test_the_daily_key_is_the_day_on_the_zones_calendar",
        f"{_SEED}::test_periods_with_one_key_are_given_one_place_in_their_windows",
    ),
    _row(
        _SEEDS,
        "seed.weekly",
        "The key of `weekly` is the ISO week of the nominal time in the zone of the job.",
        f"{_SEED}::test_the_weekly_key_is_the_iso_week_on_the_zones_calendar",
    ),
    _row(
        _SEEDS,
        "seed.hash",
        "The seed hash is a cryptographic hash (SHA-256) of identity, period key and salt, with line feeds between.",
        f"{_SEED}::test_the_hash_is_the_sha_256_of_three_lines",
        f"{_SEED}::test_an_empty_salt_leaves_the_last_line_empty",
    ),
    _row(_SEEDS, "seed.utf-8", "Texts enter the hash as UTF-8.", f"{_SEED}::test_texts_are_hashed_as_utf_8"),
    _row(
        _SEEDS,
        "seed.shown",
        "Logs and what a host shows of a period have the seed hash.",
        "rules/test_answer::test_an_answer_as_json_has_the_rows_with_the_windows_the_seeds_and_the_definitions",
        "rules/kronjob/test_child::test_the_annotations_of_a_job",
    ),
    _row(
        _SEEDS,
        "seed.generator",
        "The generator is seeded by the seed hash in a fixed, documented way.",
        "decision/test_stream::test_known_states_give_known_numbers",
        "decision/test_stream::test_only_the_first_eight_bytes_of_the_hash_matter",
    ),
    # --- constraints
    _row(
        _CONSTRAINTS,
        "constraint.only",
        "`only` names what is allowed.",
        f"{_CONSTRAINT}::test_only_allows_what_its_clause_matches_and_nothing_else",
    ),
    _row(
        _CONSTRAINTS,
        "constraint.avoid",
        "`avoid` names what is not allowed.",
        f"{_CONSTRAINT}::test_avoid_rejects_what_its_clause_matches_and_nothing_else",
    ),
    _row(
        _CONSTRAINTS,
        "constraint.both",
        "With both, a time is allowed if it satisfies `only` and does not satisfy `avoid`.",
        f"{_CONSTRAINT}::test_avoid_cuts_holes_into_only",
        f"{_CONSTRAINT}::test_a_clause_on_both_sides_allows_nothing",
    ),
    _row(_CONSTRAINTS, "constraint.zone", "Constraints are evaluated on the candidate in the zone of the job."),
    _row(
        _CONSTRAINTS,
        "constraint.rejection",
        "A candidate that violates a constraint is rejected and the next one is sampled, until one is allowed.",
        f"{_DECIDE}::test_candidates_are_the_rejected_ones_and_then_the_chosen_one",
        f"{_DECIDE}::test_lights_that_fall_into_the_last_two_minutes_at_the_fifty_fifth_attempt",
    ),
    _row(
        _CONSTRAINTS,
        "constraint.budget",
        "The number of candidates is fixed: 64.",
        f"{_DECIDE}::test_a_period_is_unschedulable_after_sixty_four_rejected_candidates",
    ),
    _row(
        _CONSTRAINTS,
        "constraint.unschedulable",
        "A period without an allowed candidate becomes unschedulable and is not executed.",
        f"{_ALIVE}::test_a_period_without_a_possible_second_is_unschedulable_when_its_window_begins",
        f"{_VERDICT}::test_an_unschedulable_period_waits_for_its_window_and_is_closed_then",
        "hosts/operator/test_reign::test_a_period_without_a_second_is_unschedulable_and_the_next_has_one",
    ),
    # --- decisions
    _row(
        _DECISION,
        "decision.fields",
        "A decision has period id, nominal time, window bounds, chosen time, zone, distribution, seed strategy, seed "
        "hash and constraints.",
        "decision/test_decision::test_a_decision_has_all_that_is_needed_to_make_it_again",
    ),
    _row(
        _DECISION,
        "decision.steps",
        "A decision follows from nominal time, window, period key, seed hash, stream, samples and constraints, in this "
        "order.",
        f"{_DECIDE}::test_a_backup_in_the_three_hours_after_midnight",
        f"{_DECIDE}::test_messages_around_ten_in_paris_skewed_late",
        f"{_DECIDE}::test_a_daily_seed_without_salt",
        "decision/test_golden::test_a_decision_is_what_it_always_was",
    ),
    _row(_DECISION, "decision.one-period", "A decision belongs to one period: other periods have their own."),
    _row(
        _DECISION,
        "decision.of-a-handled-period",
        "A decision for a handled period causes no further execution.",
        f"{_LIVES}::test_a_period_that_was_run_is_not_run_again_by_a_definition_that_would_choose_it_later",
        f"{_VERDICT}::test_a_handled_period_is_left_alone_whatever_the_time",
    ),
    # --- outcomes
    _row(
        _OUTCOME,
        "outcome.one-each",
        "Each period of a job gets exactly one of the four terminal outcomes.",
        "engine/jobs/test_remembering::test_no_period_gets_a_second_outcome",
    ),
    _row(
        _OUTCOME,
        "outcome.executed",
        "A period is executed when an execution was started for it.",
        f"{_ALIVE}::test_a_job_runs_at_its_chosen_second",
        f"{_ALIVE}::test_a_start_is_recorded_before_it_happens",
    ),
    _row(
        _OUTCOME,
        "outcome.skipped",
        "A period is skipped when the policy keeps it from being started.",
        f"{_ALIVE}::test_forbid_skips_what_comes_while_a_run_is_active",
        f"{_LIVES}::test_after_downtime_the_latest_period_in_time_runs_and_the_others_are_closed",
    ),
    _row(
        _OUTCOME,
        "outcome.missed",
        "A period is missed when its deadline expired before it was started.",
        f"{_LIVES}::test_downtime_gets_no_slack",
        f"{_VERDICT}::test_a_period_one_second_late_without_a_deadline_is_missed",
    ),
    _row(
        _OUTCOME,
        "outcome.unschedulable",
        "A period is unschedulable when no allowed second could be selected.",
        f"{_ALIVE}::test_a_period_without_a_possible_second_is_unschedulable_when_its_window_begins",
    ),
    _row(
        _OUTCOME,
        "outcome.no-second-execution",
        "No execution is started for a period that is handled.",
        f"{_LIVES}::test_a_run_that_nobody_saw_end_is_unknown_and_is_not_run_again",
        f"{_VERDICT}::test_a_handled_period_is_left_alone_whatever_the_time",
        "rules/test_coming::test_handled_periods_do_not_come_again",
    ),
    # --- triggers
    _row(
        _TRIGGER,
        "trigger.eligible",
        "A period can be triggered from its chosen time on, and not before.",
        f"{_VERDICT}::test_a_period_before_its_chosen_second_waits_for_it",
        f"{_VERDICT}::test_a_period_at_its_chosen_second_runs",
        "rules/test_coming::test_nothing_is_taken_before_its_time",
    ),
    _row(
        _TRIGGER,
        "trigger.suspended",
        "While a job is suspended nothing is triggered and no period is handled.",
        f"{_LIVES}::test_a_suspended_job_handles_nothing_and_is_judged_by_its_deadline_when_it_goes_on",
        f"{_VERDICT}::test_a_suspended_job_handles_nothing",
        "hosts/operator/test_changes::test_a_suspended_kronjob_starts_nothing_and_says_nothing_about_the_next",
    ),
    _row(_TRIGGER, "trigger.handled-when-eligible", "An eligible period is handled at once by policy and state."),
    # --- deadlines
    _row(
        _DEADLINE,
        "deadline.zero",
        "With a deadline of zero a period that is taken up after its chosen second is missed.",
        f"{_VERDICT}::test_a_period_one_second_late_without_a_deadline_is_missed",
        f"{_LIVES}::test_downtime_gets_no_slack",
    ),
    _row(
        _DEADLINE,
        "deadline.within",
        "A period may be executed until chosen time plus deadline, both included.",
        f"{_VERDICT}::test_a_period_exactly_at_its_deadline_runs_and_a_second_later_is_missed",
        f"{_VERDICT}::test_a_period_within_its_deadline_runs_and_tells_how_late_it_is",
    ),
    _row(
        _DEADLINE,
        "deadline.beyond",
        "A period that is taken up later than chosen time plus deadline is missed.",
        f"{_VERDICT}::test_a_period_exactly_at_its_deadline_runs_and_a_second_later_is_missed",
        f"{_VERDICT}::test_nothing_runs_before_its_second_or_after_deadline_and_slack",
    ),
    # --- concurrency
    _row(_OVERLAP, "overlap.at-trigger", "The concurrency policy is evaluated when a period is triggered."),
    _row(
        _OVERLAP,
        "overlap.allow",
        "`allow` executes a period whether or not an execution is active.",
        f"{_VERDICT}::test_an_active_execution_is_met_by_the_policy",
        f"{_ALIVE}::test_allow_lets_them_run_side_by_side",
        "hosts/operator/test_reign::test_allow_lets_jobs_run_side_by_side",
    ),
    _row(
        _OVERLAP,
        "overlap.forbid",
        "`forbid` skips a period while an execution is active.",
        f"{_VERDICT}::test_an_active_execution_is_met_by_the_policy",
        f"{_ALIVE}::test_forbid_skips_what_comes_while_a_run_is_active",
        "hosts/operator/test_reign::test_forbid_skips_a_period_while_a_job_is_active",
    ),
    _row(
        _OVERLAP,
        "overlap.replace",
        "`replace` terminates the active execution and then executes the period.",
        f"{_VERDICT}::test_an_active_execution_is_met_by_the_policy",
        f"{_ALIVE}::test_replace_ends_the_run_and_begins_when_it_is_gone",
        "hosts/operator/test_reign::test_replace_deletes_the_active_job_and_creates_the_next_when_it_is_gone",
    ),
    _row(
        _OVERLAP,
        "overlap.termination",
        "A termination is attempted as far as the host can, and its result is recorded.",
        f"{_ALIVE}::test_replace_ends_the_run_and_begins_when_it_is_gone",
        "faults/test_children::test_a_job_that_ignores_sigterm_is_killed_when_its_grace_is_over",
    ),
    # --- idempotency
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
    # --- states
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
    # --- changed definitions
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
    # --- clock changes
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
    # --- observability
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
    # --- invariants
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
    # --- compatibility
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
