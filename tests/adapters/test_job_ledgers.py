"""Every job ledger passes the suite of the port, and all of them agree."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st

from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.ledger import JobBatch, JobLedger, JobSnapshot
from kron.errors import LedgerError
from kron.instant import Instant
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd, RunHandle, RunKind, RunStart
from kron.rules.job_spec import definition_key
from kron.rules.periods import HandledPeriods
from kron.rules.verdict import Outcome
from kron.testing import JOB_LEDGER_SUITE, MemoryJobLedger
from kron.testing.job_ledger_suite import DEFINITION, JOB, KEY, MINUTE, NOON, NOW, OTHER, OTHER_KEY, JobLedgerCheck


@pytest.mark.parametrize("check", JOB_LEDGER_SUITE, ids=lambda check: check.__name__)
def test_memory(check: JobLedgerCheck) -> None:
    ledger = MemoryJobLedger()

    asyncio.run(check(lambda: ledger))


@pytest.mark.parametrize("check", JOB_LEDGER_SUITE, ids=lambda check: check.__name__)
def test_sqlite(check: JobLedgerCheck, tmp_path: Path) -> None:
    asyncio.run(check(lambda: SqliteJobLedger(tmp_path / "ledger.db")))


# --- any sequence of batches: what one takes the other takes, and both remember the same ------------------------------

SHORT_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # hundreds of files that no power cut needs to spare
SPARSE = '{"timing": {"schedule": "*/3 * * * *"}, "policy": {}}'
SPARSE_KEY = definition_key(SPARSE)
MINUTES = st.integers(0, 12).map(lambda minute: NOON + minute * MINUTE)
IDENTITIES = st.sampled_from(["a", "b"])
RUN_IDS = st.sampled_from([f"run {number}" for number in range(8)])
JOBS = st.builds(
    JOB._replace, identity=IDENTITIES, handled_until=MINUTES, definition_key=st.sampled_from([KEY, OTHER_KEY, "no"])
)
PROCESSES = st.builds(RunHandle, RUN_IDS, st.integers(1, 3), st.integers(1, 3))
ENDS = st.builds(
    RunEnd,
    RUN_IDS,
    st.just(NOW),
    st.sampled_from(ResultCode),
    st.none(),
    st.none(),
    st.just(""),
    retry_at=st.none() | MINUTES,
)


@st.composite
def attempts(draw: st.DrawFn) -> RunStart:
    identity, run_id = draw(IDENTITIES), draw(RUN_IDS)
    if draw(st.integers(0, 4)) == 0:
        kind, number = draw(st.sampled_from([RunKind.TRIGGER, RunKind.BOOT])), draw(st.sampled_from([1, 1, 2, 3]))
        before = draw(RUN_IDS) if number > 1 else ""
        return RunStart(run_id, identity, kind, None, None, number, NOW, KEY, "boot", before)
    number = draw(st.sampled_from([1, 1, 1, 2, 3]))
    return RunStart(run_id, identity, RunKind.PERIOD, draw(MINUTES), draw(MINUTES), number, NOW, KEY, "boot")


@st.composite
def closings(draw: st.DrawFn) -> PeriodRecord:
    first, number = draw(MINUTES), draw(st.sampled_from([1, 1, 2, 4]))
    last = first + (number - 1) * MINUTE
    key = draw(st.sampled_from([KEY, KEY, SPARSE_KEY]))
    return PeriodRecord(draw(IDENTITIES), first, last, number, None, draw(MINUTES), Outcome.MISSED, "", "", key, NOW)


BATCHES = st.builds(
    JobBatch,
    st.just({KEY: DEFINITION, OTHER_KEY: OTHER, SPARSE_KEY: SPARSE}),
    st.lists(JOBS, max_size=2),
    st.lists(closings(), max_size=3),
    st.lists(attempts(), max_size=3),
    st.lists(PROCESSES, max_size=1),
    st.lists(ENDS, max_size=1),
    st.lists(RUN_IDS, max_size=1),
)


Answer = type | list[tuple[str, Instant | None, str, HandledPeriods]]


async def answers_and_contents(
    ledger: JobLedger, batches: Sequence[JobBatch]
) -> tuple[list[Answer], JobSnapshot, object]:
    """Append what is accepted; return the answers, and what is remembered then."""
    answers: list[Answer] = []
    await ledger.open()
    for batch in batches:
        try:
            refused = await ledger.append(batch)
            answers.append([(each.identity, each.nominal, each.run_id, each.handled) for each in refused])
        except LedgerError as error:
            answers.append(type(error))
    await ledger.close()
    await ledger.open()
    stored, handled = await ledger.load(), await ledger.handled(dict.fromkeys("ab", NOON + 3 * MINUTE))
    await ledger.close()
    return answers, stored, handled


@given(st.lists(BATCHES, max_size=8), st.sampled_from([1, 2]))
def test_both_take_the_same_refuse_the_same_and_remember_the_same(batches: list[JobBatch], times: int) -> None:
    batches = [batch for batch in batches for _ in range(times)]
    jobs = JobBatch({KEY: DEFINITION}, [JOB._replace(identity=identity) for identity in "ab"])
    with TemporaryDirectory(dir=SHORT_MEMORY) as folder:
        remembered = asyncio.run(answers_and_contents(MemoryJobLedger(), [jobs, *batches]))
        written = asyncio.run(answers_and_contents(SqliteJobLedger(Path(folder) / "ledger"), [jobs, *batches]))

    assert written == remembered


@given(st.lists(BATCHES, max_size=4), BATCHES)
def test_a_refused_record_changes_nothing_of_its_job(batches: list[JobBatch], last: JobBatch) -> None:
    async def live() -> None:
        ledger = MemoryJobLedger()
        await ledger.open()
        await ledger.append(JobBatch({KEY: DEFINITION}, [JOB._replace(identity=identity) for identity in "ab"]))
        for batch in batches:
            with suppress(LedgerError):
                await ledger.append(batch)
        before = await everything_of("ab", ledger)
        with suppress(LedgerError):
            gone = "".join(each.identity for each in await ledger.append(last))
            assert await everything_of(gone, ledger) == {name: before[name] for name in gone}

    asyncio.run(live())


async def everything_of(names: str, ledger: MemoryJobLedger) -> dict[str, object]:
    """Return by identity the records of jobs."""
    handled = await ledger.handled(dict.fromkeys(names, NOON))
    runs = {name: {key for key, run in ledger.attempts.items() if run.identity == name} for name in names}
    return {
        name: (
            ledger.jobs[name],
            handled.get(name),
            {key: ledger.attempts[key] for key in runs[name]},
            {key: ledger.processes.get(key) for key in runs[name]},
            {key: ledger.ends.get(key) for key in runs[name]},
        )
        for name in names
    }
