"""INPUTS: bugs of definitions, periods and windows."""

from tests.conformance.mutant import bug

_DECISIONS = "conformance/test_kron_decisions"
_PERIODS = "conformance/test_kron_periods"
_DECIDE = "decision/test_decide"
_SEED = "decision/test_seed"
_CONSTRAINT = "decision/test_constraint"
_VERDICT = "rules/test_verdict"

INPUTS = (
    bug(
        "hosts.one-contract",
        "decision/timing.py",
        'read_seed(parts.get("seed", {}), parts.get("salt")),',
        'read_seed({}, parts.get("salt")),',
        "decision/test_timing::test_the_spec_of_a_kronjob_names_the_same_timing",
    ),
    bug(
        "hosts.utc period.any-zone",
        "decision/decide.py",
        "at = nominal if nominal.__class__ is datetime and nominal.tzinfo is UTC else instant(nominal)",
        "at = nominal.replace(tzinfo=UTC)",
        f"{_DECIDE}::test_the_nominal_time_may_be_given_in_any_zone",
    ),
    bug(
        "hosts.zone",
        "cron/schedule.py",
        "found = self.expression.after(at) if self.zone is UTC_ZONE else self._search_forward(at)",
        "found = self.expression.after(at)",
        f"{_DECISIONS}::test_a_schedule_names_the_hours_of_the_zone_of_the_job",
    ),
    bug(
        "hosts.stored-times",
        "adapters/sqlite/schema.py",
        '[:26]}Z"',
        '[:26]}Z".replace("T", " ")',
        f"{_PERIODS}::test_every_time_in_the_file_is_a_text_in_rfc_3339_in_utc",
    ),
    bug(
        "hosts.whole-seconds",
        "decision/decide.py",
        "        at = at.replace(microsecond=0)\n",
        "        pass\n",
        f"{_DECIDE}::test_a_fraction_of_a_second_in_the_nominal_time_is_dropped",
    ),
    bug(
        "hosts.now-is-an-input trigger.eligible",
        "rules/verdict.py",
        "if now < decision.chosen_time:",
        "if now < decision.window_start:",
        f"{_VERDICT}::test_a_period_before_its_chosen_second_waits_for_it",
    ),
    bug(
        "definition.identity",
        "decision/timing.py",
        "        require_identity(self.identity)\n",
        "",
        f"{_SEED}::test_an_identity_is_one_line_of_text_that_utf_8_can_hold",
    ),
    bug(
        "definition.seed",
        "decision/definition.py",
        'parts.get("strategy", "stable")',
        'parts.get("strategy", "daily")',
        "decision/test_line::test_a_line_without_modifiers_has_the_defaults",
    ),
    bug(
        "definition.timezone",
        "cron/schedule.py",
        'timezone: str = "UTC",',
        'timezone: str = "Europe/London",',
        "decision/test_line::test_a_line_without_modifiers_has_the_defaults",
    ),
    bug(
        "definition.window",
        "decision/window.py",
        "if self.duration < ZERO:",
        "if self.duration < -MICROSECOND:",
        "decision/test_window::test_a_duration_below_zero_is_refused",
    ),
    bug(
        "definition.distribution",
        "decision/distribution.py",
        "    if key not in known:\n",
        "    if key not in _READERS:\n",
        "decision/test_distribution_errors::test_a_parameter_of_another_distribution_is_refused_with_the_known_ones",
    ),
    bug(
        "definition.constraints constraint.both",
        "decision/constraint.py",
        "minutes &= ~mask",
        "minutes &= mask",
        f"{_CONSTRAINT}::test_avoid_cuts_holes_into_only",
    ),
    bug(
        "definition.policy",
        "rules/policy.py",
        "concurrency: Concurrency = Concurrency.FORBID",
        "concurrency: Concurrency = Concurrency.ALLOW",
        "rules/test_policy::test_without_a_policy_runs_do_not_overlap_may_not_be_late_and_are_not_suspended",
    ),
    bug(
        "period.previous",
        "cron/schedule.py",
        "moment = instant(at)\n",
        "moment = instant(at) - MICROSECOND\n",
        "cron/test_search::test_previous_is_at_or_before",
    ),
    bug(
        "period.next",
        "cron/schedule.py",
        "at = after if after.__class__ is datetime and after.tzinfo is UTC else instant(after)",
        "at = instant(after) - MICROSECOND",
        "cron/test_search::test_next_is_strictly_after",
    ),
    bug(
        "period.nominal decision.one-period",
        "decision/decide.py",
        "key = period_id(at) if seed.strategy is _STABLE",
        "key = period_id(at)[:10] if seed.strategy is _STABLE",
        f"{_DECISIONS}::test_each_nominal_time_is_a_period_with_a_decision_of_its_own",
    ),
    bug(
        "period.id",
        "instant.py",
        ':{two[value.second]}Z"',
        ':{two[value.second]}+00:00"',
        f"{_SEED}::test_a_period_is_called_by_its_nominal_time_in_utc",
    ),
    bug(
        "window.after",
        "decision/window.py",
        "return 0, microseconds // 1_000_000",
        "return 1, microseconds // 1_000_000",
        f"{_DECISIONS}::test_a_window_after_goes_from_the_nominal_time_to_its_duration_later",
    ),
    bug(
        "window.around",
        "decision/window.py",
        "return -microseconds // 2_000_000, microseconds // 2_000_000",
        "return -microseconds // 1_000_000, 0",
        f"{_DECISIONS}::test_a_window_around_has_half_of_its_duration_on_each_side",
    ),
    bug(
        "window.inclusive",
        "decision/decide.py",
        "seconds = int(u * (terms.width + 1)) if terms.quantile is None",
        "seconds = int(u * terms.width) if terms.quantile is None",
        f"{_DECIDE}::test_both_ends_of_a_short_window_are_chosen_in_time",
    ),
    bug(
        "window.contains-chosen distribution.bounded guarantee.window",
        "decision/decide.py",
        "seconds = int(u * (terms.width + 1)) if terms.quantile is None",
        "seconds = int(u * (terms.width + 1)) + 1 if terms.quantile is None",
        f"{_DECISIONS}::test_no_distribution_leaves_a_window_of_a_few_seconds",
    ),
    bug(
        "window.zero",
        "decision/decide.py",
        "return (start, 0, None) if allowed",
        "return (start + SECOND, 0, None) if allowed",
        "decision/test_window::test_without_a_window_the_nominal_time_is_chosen",
    ),
    bug(
        "distribution.defaults",
        "decision/distribution.py",
        "max(timedelta(seconds=frame.width) // 6,",
        "max(timedelta(seconds=frame.width) // 5,",
        "decision/test_distribution::test_a_normal_has_its_mean_in_the_middle_and_a_sixth_of_the_window_as_sigma",
    ),
)
