"""A host that breaks a policy violates the property about that policy and no other; a sound one violates none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.krond.policy_trial import violated
from tests.mutation import PACKAGE, changed, mutate
from tests.simulator.bugs.mutant import Mutant
from tests.simulator.test_mutants import PROJECT

MUTANTS = (
    Mutant(
        "after a pause a period runs as soon as its window has begun",
        "rules/periods.py",
        "return decision.window_start if decision.chosen_time is None else decision.chosen_time",
        "return decision.window_start",
        ("I8",),
        "kron",
    ),
    Mutant(
        "after a pause nothing is too late",
        "rules/verdict.py",
        "return now.replace(microsecond=0) - deadline - MICROSECOND",
        "return now.replace(microsecond=0) - deadline - SECOND * 86400",
        ("I9",),
        "kron",
    ),
    Mutant(
        "a job that forbids overlaps runs beside itself",
        "rules/verdict.py",
        "Concurrency.FORBID: OverlapAction.SKIP,",
        "Concurrency.FORBID: OverlapAction.START,",
        ("I10",),
        "kron",
    ),
    Mutant(
        "what has succeeded is tried again",
        "rules/job_record.py",
        "RETRYABLE = frozenset({ResultCode.FAILED,",
        "RETRYABLE = frozenset({ResultCode.SUCCEEDED, ResultCode.FAILED,",
        ("I11",),
        "kron",
    ),
    Mutant(
        "a failed run is tried again once too often",
        "engine/jobs/step.py",
        "or attempt.attempt > job.work.retries:",
        "or attempt.attempt > job.work.retries + 1:",
        ("I12",),
        "kron",
    ),
)


async def test_a_host_that_keeps_its_policies_violates_nothing() -> None:
    assert await violated() == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_bug_changes_one_place_of_the_code(mutant: Mutant) -> None:
    compile(changed(mutant, (PACKAGE / mutant.module).read_text()), mutant.module, "exec")


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_policy_violates_its_property_and_no_other(mutant: Mutant, tmp_path: Path) -> None:
    mutate(mutant, tmp_path)
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(PROJECT)]), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "tests.hosts.krond.policy_trial"]

    done = subprocess.run(command, env={**os.environ, **paths}, cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert tuple(json.loads(done.stdout)) == mutant.caught_by
