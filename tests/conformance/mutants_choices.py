"""CHOICES: bugs of seeds, constraints, decisions and outcomes."""

from tests.conformance.mutant import bug

_DECISIONS = "conformance/test_kron_decisions"
_PERIODS = "conformance/test_kron_periods"
_DECIDE = "decision/test_decide"
_SEED = "decision/test_seed"
_CONSTRAINT = "decision/test_constraint"
_VERDICT = "rules/test_verdict"
_ALIVE = "engine/jobs/test_periods"

CHOICES = (
    bug(
        "distribution.deterministic",
        "decision/seed.py",
        '{key}\\n{salt}".encode()',
        '{key}\\n{hash(salt)}".encode()',
        f"{_DECIDE}::test_kron_and_the_reference_make_the_same_decision",
    ),
    bug(
        "distribution.follows",
        "decision/distribution.py",
        "return lambda u: 1 - (1 - u) ** shape",
        "return lambda u: 1 - (1 - u) ** (shape + 1)",
        "decision/test_distribution::test_a_large_sample_follows_the_distribution_function",
    ),
    bug(
        "seed.restarts",
        "rules/periods.py",
        "            decision = decide(self._timing, nominal)\n",
        "            decision = decide(self._timing, nominal)\n"
        "            late = SECOND * (self._since.minute % 3)\n"
        "            decision = decision._replace(chosen_time=decision.chosen_time and decision.chosen_time + late)\n",
        f"{_PERIODS}::test_a_host_that_restarts_again_and_again_starts_at_the_same_seconds",
    ),
    bug(
        "seed.leaders guarantee.deterministic hosts.now-is-an-input",
        "decision/seed.py",
        '{key}\\n{salt}".encode()',
        '{key}\\n{hash(salt)}".encode()',
        "decision/test_determinism::test_another_process_makes_the_same_decisions",
    ),
    bug(
        "seed.reconciliations",
        "engine/jobs/declaration.py",
        "return self._returned(self._job(work, record)) if job is None else job",
        "return self._job(work, record._replace(served=now.replace(minute=59)))",
        f"{_PERIODS}::test_a_host_that_reconciles_again_and_again_starts_at_the_same_seconds",
    ),
    bug(
        "seed.inputs",
        "decision/seed.py",
        'sha256(f"{identity}\\n',
        'sha256(f"\\n',
        f"{_SEED}::test_a_different_salt_or_identity_moves_the_choice",
    ),
    bug(
        "seed.stable",
        "decision/seed.py",
        "        return period_id(nominal)\n",
        "        return period_id(nominal)[:-1]\n",
        f"{_SEED}::test_the_stable_key_is_the_period_itself",
    ),
    bug(
        "seed.daily",
        "decision/seed.py",
        "day = (nominal + zone.offset(nominal)).date()",
        "day = nominal.date()",
        f"{_SEED}::test_the_daily_key_is_the_day_on_the_zones_calendar",
    ),
    bug(
        "seed.weekly",
        "decision/seed.py",
        'return f"{year:04}-W{week:02}"',
        'return f"{day.year:04}-W{week:02}"',
        f"{_SEED}::test_the_weekly_key_is_the_iso_week_on_the_zones_calendar",
    ),
    bug(
        "seed.hash",
        "decision/seed.py",
        'sha256(f"{identity}\\n{key}\\n{salt}"',
        'sha256(f"{identity}{key}{salt}"',
        f"{_SEED}::test_the_hash_is_the_sha_256_of_three_lines",
    ),
    bug(
        "seed.utf-8",
        "decision/seed.py",
        '{salt}".encode()',
        '{salt}".encode("utf-16")',
        f"{_SEED}::test_texts_are_hashed_as_utf_8",
    ),
    bug(
        "seed.shown shown.decision shown.replay",
        "decision/decision.py",
        '"seed_hash": self.seed_hash,',
        '"seed_hash": self.seed_hash[:16],',
        "conformance/test_kron_shown::test_every_decision_in_the_log_can_be_made_again_from_its_line_alone",
    ),
    bug(
        "seed.generator",
        "decision/seed.py",
        "(z ^ z >> 27)",
        "(z ^ z >> 28)",
        "decision/test_stream::test_known_states_give_known_numbers",
    ),
    bug(
        "constraint.only",
        "decision/constraint.py",
        "minutes &= mask",
        "minutes |= mask",
        f"{_CONSTRAINT}::test_only_allows_what_its_clause_matches_and_nothing_else",
    ),
    bug(
        "constraint.avoid",
        "decision/constraint.py",
        "return not any(test(day)",
        "return not all(test(day)",
        f"{_CONSTRAINT}::test_avoid_rejects_what_its_clause_matches_and_nothing_else",
    ),
    bug(
        "constraint.zone hosts.zone",
        "decision/decide.py",
        "local = start + table.offsets[segment]",
        "local = start",
        f"{_DECISIONS}::test_a_constraint_names_the_hours_of_the_zone_of_the_job",
    ),
    bug(
        "constraint.rejection",
        "decision/decide.py",
        "return start + SECOND * seconds, attempt, None",
        "return start + SECOND * seconds, 1, None",
        f"{_DECIDE}::test_lights_that_fall_into_the_last_two_minutes_at_the_fifty_fifth_attempt",
    ),
    bug(
        "constraint.budget",
        "decision/decision.py",
        "MAX_ATTEMPTS = 64",
        "MAX_ATTEMPTS = 65",
        f"{_DECIDE}::test_a_period_is_unschedulable_after_sixty_four_rejected_candidates",
    ),
    bug(
        "constraint.unschedulable outcome.unschedulable guarantee.impossible",
        "rules/verdict.py",
        'return Close(Outcome.UNSCHEDULABLE, decision.reason or "")',
        "return Execute(0)",
        f"{_ALIVE}::test_a_period_without_a_possible_second_is_unschedulable_when_its_window_begins",
    ),
    bug(
        "decision.fields",
        "decision/decision.py",
        '            "constraints_applied": self.constraints_applied.to_dict(),\n',
        "",
        "decision/test_decision::test_a_decision_has_all_that_is_needed_to_make_it_again",
    ),
    bug(
        "decision.steps stable.decisions",
        "decision/seed.py",
        "_GAMMA = 0x9E37_79B9_7F4A_7C15",
        "_GAMMA = 0x9E37_79B9_7F4A_7C17",
        "decision/test_golden::test_a_decision_is_what_it_always_was",
    ),
    bug(
        "decision.of-a-handled-period outcome.no-second-execution",
        "rules/verdict.py",
        "if handled or policy.suspend:",
        "if policy.suspend:",
        f"{_VERDICT}::test_a_handled_period_is_left_alone_whatever_the_time",
    ),
    bug(
        "outcome.executed once.checked-first",
        "engine/loop.py",
        "        if written is not None:\n",
        "        if True:\n",
        f"{_ALIVE}::test_a_start_is_recorded_before_it_happens",
    ),
    bug(
        "outcome.skipped overlap.forbid",
        "rules/verdict.py",
        "if overlap is OverlapAction.SKIP:",
        "if False:",
        f"{_ALIVE}::test_forbid_skips_what_comes_while_a_run_is_active",
    ),
)
