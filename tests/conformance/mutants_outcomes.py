"""OUTCOMES: bugs of policies, idempotency, changes and of what a host shows."""

from tests.conformance.mutant import bug
from tests.hosts.krond.test_policy_mutants import MUTANTS as POLICY_MUTANTS

_DECISIONS = "conformance/test_kron_decisions"
_PERIODS = "conformance/test_kron_periods"
_VERDICT = "rules/test_verdict"
_ALIVE = "engine/jobs/test_periods"
_LIVES = "engine/jobs/test_lives"
_FREEZES = "engine/jobs/test_freezes"
_PLACES = "engine/jobs/test_freeze_places"
_REFUSED = "engine/jobs/test_refusals::test_an_outcome_that_the_planner_does_not_know_costs_one_period_of_one_job"
_KEPT = "hosts/krond/test_policy_mutants::test_a_host_that_keeps_its_policies_violates_nothing"
_POLICIES: dict[tuple[str, ...], str] = {
    ("I8",): "guarantee.not-early",
    ("I9",): "guarantee.deadline",
    ("I10",): "guarantee.no-overlap",
    ("I11",): "guarantee.one-success",
    ("I12",): "guarantee.retries",
}  # by the property that a bug of a policy violates

OUTCOMES = (
    bug(
        "outcome.missed deadline.zero",
        "rules/verdict.py",
        "return now >= start_before(chosen, deadline, slack)",
        "return bool(deadline) and now >= start_before(chosen, deadline, slack)",
        f"{_VERDICT}::test_a_period_one_second_late_without_a_deadline_is_missed",
    ),
    bug(
        "trigger.suspended guarantee.suspension",
        "engine/jobs/job_state.py",
        "return self.work.policy.suspend or self.record.is_suspended",
        "return self.work.policy.suspend",
        f"{_LIVES}::test_a_suspended_job_handles_nothing_and_is_judged_by_its_deadline_when_it_goes_on",
    ),
    bug(
        "trigger.handled-when-eligible state.terminal",
        "rules/verdict.py",
        "return Close(Outcome.MISSED, Reason.DEADLINE.value)",
        "return Wait(None)",
        f"{_PERIODS}::test_with_any_policy_and_state_an_eligible_period_is_handled_at_once",
    ),
    bug(
        "deadline.within deadline.beyond",
        "rules/verdict.py",
        "return shift(chosen, SECOND * ((deadline + slack) // SECOND + 1))",
        "return shift(chosen, SECOND * max(1, (deadline + slack) // SECOND))",
        f"{_VERDICT}::test_a_period_exactly_at_its_deadline_runs_and_a_second_later_is_missed",
    ),
    bug(
        "overlap.at-trigger",
        "rules/verdict.py",
        "if overlap is OverlapAction.SKIP:",
        "if policy.concurrency is Concurrency.FORBID and decision.nominal_time.minute == 30:",
        f"{_PERIODS}::test_a_run_that_ends_between_nominal_time_and_trigger_is_not_in_the_way",
    ),
    bug(
        "overlap.allow overlap.replace",
        "rules/verdict.py",
        "replaces=overlap is OverlapAction.REPLACE)",
        "replaces=active)",
        f"{_VERDICT}::test_an_active_execution_is_met_by_the_policy",
    ),
    bug(
        "overlap.replace overlap.termination",
        "engine/jobs/step.py",
        "return [(run, ResultCode.REPLACED) for run in self._replaced]",
        "return []",
        f"{_ALIVE}::test_replace_ends_the_run_and_begins_when_it_is_gone",
    ),
    bug(
        "once.per-period state.monotonic guarantee.permanent",
        "adapters/sqlite/job_writer.py",
        "if row is not None and read_period(row) == record:",
        "if row is None or read_period(row) == record or record.period_count == 1:",
        "adapters/test_job_ledgers::test_sqlite",
    ),
    bug(
        "once.cluster",
        "adapters/kubernetes/responses.py",
        'error.reason == "AlreadyExists"',
        'error.reason == "Exists"',
        "hosts/operator/test_faults::test_a_job_whose_answer_was_lost_is_found_and_not_made_again",
    ),
    bug(
        "once.daemon",
        "engine/jobs/job_state.py",
        "return bool(self.active or self.retries) or any(",
        "return bool(self.retries) or any(",
        f"{_LIVES}::test_a_run_that_survived_is_active_and_its_time_counts_from_its_start",
    ),
    bug(
        "once.started-is-handled change.handled-stays",
        "rules/periods.py",
        "return None if last is None or last < nominal else last",
        "return None if last is None or last <= nominal else last",
        f"{_LIVES}::test_a_period_that_was_run_is_not_run_again_by_a_definition_that_would_choose_it_later",
    ),
    bug(
        "once.checked-first",
        "engine/jobs/step.py",
        "self._begun = [run for run in self._begun if run.attempt.identity not in gone]",
        "self._begun = list(self._begun)",
        _REFUSED,
    ),
    bug(
        "once.started-is-handled",
        "engine/jobs/planner.py",
        "if job.exclude(refusal.handled):",
        "if not job.exclude(refusal.handled):",
        _REFUSED,
    ),
    bug(
        "state.planned state.eligible state.terminal",
        "rules/verdict.py",
        "return Wait(decision.chosen_time)",
        "return Wait(decision.window_start)",
        f"{_PERIODS}::test_a_period_is_planned_until_its_second_eligible_from_then_on_and_then_handled_for_ever",
    ),
    bug(
        "state.execution",
        "rules/history.py",
        'return "running" if self.result is None else "completed"',
        'return "running"',
        f"{_PERIODS}::test_an_execution_is_running_until_it_ends_and_then_completed_with_its_result",
    ),
    bug(
        "guarantee.once",
        "theory/properties.py",
        "Always(EXECUTION >> ~Previous(Once(EXECUTION)))",
        "Always(EXECUTION >> ~Previous(EXECUTION))",
        "theory/test_periods::test_the_shortest_trace_that_violates_it_is_caught_where_it_does",
    ),
    bug(
        "change.any-field",
        "engine/jobs/declaration.py",
        "if change is DefinitionChange.SAME:",
        "if change is DefinitionChange.SAME or (change is DefinitionChange.SETTINGS and job is not None):",
        f"{_PERIODS}::test_a_change_of_any_part_is_a_change_that_leaves_handled_periods_alone",
    ),
    bug(
        "change.future",
        "engine/jobs/declaration.py",
        "renewed._replace(declared_at=now, handled_until=now, last_boot_id=boot)",
        "renewed._replace(last_boot_id=boot)",
        f"{_LIVES}::test_an_edit_runs_nothing_and_owns_what_is_chosen_after_it",
    ),
    bug(
        "change.active",
        "engine/jobs/job_state.py",
        "self.queue, self.active, self.retries = before.queue, before.active, before.retries",
        "self.queue, self.retries = before.queue, before.retries",
        f"{_PERIODS}::test_the_policy_of_the_new_definition_decides_about_a_run_of_the_old_one",
    ),
    bug(
        "clock.forward",
        "engine/jobs/planner.py",
        "self._armed, self._gap = now, Reason.DEADLINE",
        "self._gap = Reason.DEADLINE",
        f"{_PLACES}::test_a_clock_that_is_set_forward_while_the_ledger_is_waited_for_is_time_without_a_host",
    ),
    bug(
        "clock.backward clock.persisted once.per-period",
        "engine/jobs/job_state.py",
        "PeriodQueue(self.work.timing, until, self.handled)",
        "PeriodQueue(self.work.timing, self.record.declared_at, NO_PERIODS)",
        f"{_PERIODS}::test_periods_handled_before_the_clock_was_set_back_stay_handled_after_a_restart",
    ),
    bug(
        "shown.period outcome.one-each",
        "rules/history.py",
        "chosen_time=record.chosen,",
        "chosen_time=None,",
        "conformance/test_kron_shown::test_of_each_period_the_log_has_its_id_its_times_and_its_outcome",
    ),
    bug(
        "shown.reason",
        "rules/history.py",
        "reason=record.reason or None,",
        "reason=None,",
        "conformance/test_kron_shown::test_of_a_period_without_an_execution_the_log_has_the_reason",
    ),
    bug(
        "guarantee.bounded",
        "rules/outage.py",
        "found.append(ClosedPeriods(first, last, number, outcome, reason.value, reached))",
        "found += [ClosedPeriods(first, last, 1, outcome, reason.value, reached)] * number",
        f"{_LIVES}::test_after_downtime_the_latest_period_in_time_runs_and_the_others_are_closed",
    ),
    bug(
        "guarantee.newest-decided",
        "rules/outage.py",
        "MOST_DECIDED = 10_000",
        "MOST_DECIDED = 5_000",
        "rules/test_outage_cost::test_of_a_long_time_with_constraints_the_newest_periods_are_decided_one_by_one",
    ),
    *(bug(_POLICIES[each.caught_by], each.module, each.before, each.after, _KEPT) for each in POLICY_MUTANTS),
    bug(
        "change.failed-file",
        "hosts/krond/file_reader.py",
        "for job in job_set.jobs if job.file not in failed)",
        "for job in job_set.jobs if not failed)",
        "hosts/krond/test_file_reader::test_a_file_with_errors_takes_no_jobs_from_another_file",
    ),
    bug(
        "change.repaired-file",
        "engine/jobs/declaration.py",
        "if record.identity not in self._aside and (not spares_absent or record.identity in planner.jobs):",
        "if record.identity:",
        "engine/jobs/test_absent::test_periods_of_a_repaired_file_are_judged_as_after_downtime",
    ),
    bug(
        "clock.ahead",
        "web/upcoming.py",
        "if job.record.handled_until > now:",
        "if job.record.handled_until < now:",
        "hosts/krond/test_clock_ahead::test_status_says_until_when_periods_are_handled",
    ),
    bug(
        "clock.freeze",
        "rules/outage.py",
        "if late <= slack:",
        "if late <= slack * 100:",
        f"{_FREEZES}::test_after_a_freeze_the_newest_period_runs_and_the_others_are_superseded",
    ),
    bug(
        "clock.stall",
        "rules/outage.py",
        "if late <= slack:",
        "if late < slack:",
        f"{_FREEZES}::test_a_delay_of_exactly_the_slack_is_a_stall_and_a_longer_one_is_a_freeze",
    ),
    bug(
        "clock.stall",
        "rules/outage.py",
        "    due = plan.begins\n",
        "    due = plan.taken\n",
        f"{_FREEZES}::test_an_idle_loop_that_sleeps_its_full_minute_is_neither_frozen_nor_stalled",
    ),
    bug(
        "clock.ledger-is-no-freeze",
        "rules/outage.py",
        "sum((ZERO - wait.after(due) for wait in waits), now - due)",
        "now - due",
        f"{_PLACES}::test_an_append_that_hangs_is_no_freeze",
    ),
    bug(
        "clock.ends-first",
        "engine/active_runs.py",
        "await self._runner.catch_up(stood_still=stood_still)",
        "del stood_still",
        f"{_FREEZES}::test_a_run_that_ended_in_a_freeze_does_not_skip_the_newest_period",
    ),
    bug(
        "shown.range shown.replay",
        "hosts/krond/events.py",
        "if record.period_count > 1 and work.timing is not None:",
        "if record.period_count > 1_000_000 and work.timing is not None:",
        "cli/test_replay::test_a_log_alone_gives_every_decision_that_an_independent_computation_gives",
    ),
    bug(
        "shown.next-seed",
        "web/queries.py",
        "None if self.next is None else self.next.seed_hash",
        "None if self.next is None else self.next.identity",
        "hosts/krond/test_clock_ahead::test_jobs_say_until_when_each_is_handled_and_the_seed_of_the_next_decision",
    ),
    bug(
        "stable.additions",
        "decision/decision.py",
        "        read = _Reader(record)\n",
        "        read = _Reader(record)\n"
        "        if len(record) > 18:\n"
        "            raise InvalidDecisionError(field='text', reason='has unknown fields')\n",
        "decision/test_decision::test_fields_that_others_have_added_are_ignored",
    ),
    bug(
        "stable.version",
        "decision/decision.py",
        'if read("algorithm_version", _count) != ALGORITHM_VERSION:',
        'if read("algorithm_version", _count) > 9:',
        f"{_DECISIONS}::test_a_decision_names_its_algorithm_and_one_of_another_algorithm_is_refused",
    ),
)
