"""CHOICE: clauses of the contract `kron` on definitions, periods, windows and seeds."""

from tests.conformance.clause import KRON, Clause

_DECIDE = "decision/test_decide"
_SEED = "decision/test_seed"
_CONSTRAINT = "decision/test_constraint"
_VERDICT = "rules/test_verdict"
_SCOPE = "Hosts and time"
_INPUT = "Job definitions"
_PERIOD = "Periods"
_WINDOW = "Windows"
_DISTRIBUTION = "Distributions"
_SEEDS = "Seeds"


def _row(section: str, name: str, sentence: str, *shown_by: str) -> Clause:
    return Clause(name, (KRON,), section, sentence, shown_by=shown_by)


CHOICE = (
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
        "cron/test_search::test_occurrences_are_in_utc_in_every_zone",
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
    _row(
        _INPUT,
        "definition.identity",
        "A job has a stable identity, and a cron expression as its schedule.",
        f"{_SEED}::test_an_identity_is_one_line_of_text_that_utf_8_can_hold",
        "decision/test_timing_errors::test_a_definition_needs_a_schedule",
        "adapters/files/test_job_files::test_the_identity_has_the_absolute_normalised_path_and_keeps_links",
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
        "cron/test_search::test_the_next_occurrence_is_its_own_previous_and_none_is_between",
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
        f"{_DECIDE}::test_the_chosen_second_is_in_the_window_or_there_is_a_reason",
    ),
    _row(
        _WINDOW,
        "window.zero",
        "Without a duration the chosen time is the nominal time.",
        "decision/test_window::test_without_a_window_the_nominal_time_is_chosen",
        f"{_DECIDE}::test_a_window_of_length_zero_is_its_only_second_without_an_attempt",
    ),
    _row(
        _DISTRIBUTION,
        "distribution.bounded",
        "No distribution chooses a second outside of the window.",
        f"{_DECIDE}::test_the_chosen_second_is_in_the_window_or_there_is_a_reason",
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
        "why/test_explanation::test_an_answer_as_json_has_the_rows_with_the_windows_the_seeds_and_the_definitions",
        "kronjob/test_child_job::test_the_annotations_of_a_job",
    ),
    _row(
        _SEEDS,
        "seed.generator",
        "The generator is seeded by the seed hash in a fixed, documented way.",
        "decision/test_stream::test_known_states_give_known_numbers",
        "decision/test_stream::test_only_the_first_eight_bytes_of_the_hash_matter",
    ),
)
