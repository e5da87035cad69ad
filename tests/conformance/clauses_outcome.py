"""OUTCOME: clauses of the contract `kron` on constraints, decisions, outcomes and policies."""

from tests.conformance.clause import KRON, Clause

_DECIDE = "decision/test_decide"
_CONSTRAINT = "decision/test_constraint"
_VERDICT = "rules/test_verdict"
_ALIVE = "engine/jobs/test_periods"
_LIVES = "engine/jobs/test_lives"
_CONSTRAINTS = "Constraints"
_DECISION = "Decisions"
_OUTCOME = "Outcomes"
_TRIGGER = "Triggers"
_DEADLINE = "Deadlines"
_OVERLAP = "Concurrency of executions"


def _row(section: str, name: str, sentence: str, *shown_by: str) -> Clause:
    return Clause(name, (KRON,), section, sentence, shown_by=shown_by)


OUTCOME = (
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
        "hosts/operator/test_leader_session::test_a_period_without_a_second_is_unschedulable_and_the_next_has_one",
    ),
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
        f"{_LIVES}::test_a_run_with_an_unobserved_end_is_unknown_and_is_not_run_again",
        f"{_VERDICT}::test_a_handled_period_is_left_alone_whatever_the_time",
        "rules/test_period_queue::test_handled_periods_do_not_come_again",
    ),
    _row(
        _TRIGGER,
        "trigger.eligible",
        "A period can be triggered from its chosen time on, and not before.",
        f"{_VERDICT}::test_a_period_before_its_chosen_second_waits_for_it",
        f"{_VERDICT}::test_a_period_at_its_chosen_second_runs",
        "rules/test_period_queue::test_nothing_is_taken_before_its_time",
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
        f"{_VERDICT}::test_a_period_within_its_deadline_runs_and_its_lateness_is_known",
    ),
    _row(
        _DEADLINE,
        "deadline.beyond",
        "A period that is taken up later than chosen time plus deadline is missed.",
        f"{_VERDICT}::test_a_period_exactly_at_its_deadline_runs_and_a_second_later_is_missed",
        f"{_VERDICT}::test_nothing_runs_before_its_second_or_after_deadline_and_slack",
    ),
    _row(_OVERLAP, "overlap.at-trigger", "The concurrency policy is evaluated when a period is triggered."),
    _row(
        _OVERLAP,
        "overlap.allow",
        "`allow` executes a period whether or not an execution is active.",
        f"{_VERDICT}::test_an_active_execution_is_met_by_the_policy",
        f"{_ALIVE}::test_allow_lets_them_run_side_by_side",
        "hosts/operator/test_leader_session::test_allow_lets_jobs_run_side_by_side",
    ),
    _row(
        _OVERLAP,
        "overlap.forbid",
        "`forbid` skips a period while an execution is active.",
        f"{_VERDICT}::test_an_active_execution_is_met_by_the_policy",
        f"{_ALIVE}::test_forbid_skips_what_comes_while_a_run_is_active",
        "hosts/operator/test_leader_session::test_forbid_skips_a_period_while_a_job_is_active",
    ),
    _row(
        _OVERLAP,
        "overlap.replace",
        "`replace` terminates the active execution and then executes the period.",
        f"{_VERDICT}::test_an_active_execution_is_met_by_the_policy",
        f"{_ALIVE}::test_replace_ends_the_run_and_begins_when_it_is_gone",
        "hosts/operator/test_leader_session::test_replace_deletes_the_active_job_and_creates_the_next_when_it_is_gone",
    ),
    _row(
        _OVERLAP,
        "overlap.termination",
        "A termination is attempted as far as the host can, and its result is recorded.",
        f"{_ALIVE}::test_replace_ends_the_run_and_begins_when_it_is_gone",
        "faults/test_children::test_a_job_that_ignores_sigterm_is_killed_when_its_grace_is_over",
    ),
)
