"""Recorded `why` questions of a ledger and of a cluster, with their answers as JSON and as sentences.

    python -m tests.why.recorded

asks the questions again and writes today's answers; the difference in git shows what changed. The JSON is a format that
users rely on.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kron.decision.decision import ONLY_SECOND_NOT_ALLOWED
from kron.instant import Instant, format_instant, parse_instant
from kron.rules.job_record import JobRecord, PeriodRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.job_spec import definition_key
from kron.rules.verdict import Outcome
from kron.testing.job_ledger_suite import MINUTE, NOON
from kron.why.cluster import ClusterExplanation, ClusterRecords, cluster_sentence
from kron.why.explanation import Explanation, to_dict
from tests.adapters.sqlite.job_histories import JobBatch, remembered
from tests.kronjob.kronjob_documents import document
from tests.why.test_cluster import CHOSEN, FIRST, HOURLY, child, entry, many, outage, records

RECORDED = Path(__file__).with_name("recorded_answers.json")
HOUR, DAY, SECOND = 60 * MINUTE, 24 * 60 * MINUTE, timedelta(seconds=1)
PLAIN = '{"timing": {"schedule": "0 * * * *"}, "policy": {}}'
WINDOWED = '{"timing": {"schedule": "0 * * * *", "window": "after,2h"}, "policy": {}}'
HELD = '{"timing": {"schedule": "0 * * * *"}, "policy": {"suspend": true}}'
BERLIN = '{"timing": {"schedule": "0 * * * *", "timezone": "Europe/Berlin"}, "policy": {"concurrency": "forbid"}}'
NEVER = '{"timing": {"schedule": "0 * * * *", "only": ["hours=3"]}, "policy": {}}'
AT_BOOT = '{"timing": null, "policy": {}}'
LATER = NOON + DAY


# --- of a ledger ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LedgerCase:
    """A job, what is recorded of it, and when what is asked."""

    batches: Sequence[JobBatch]
    at: Sequence[Instant] = (NOON,)
    now: Instant = LATER


def job(definition: str = PLAIN, **fields: Any) -> JobRecord:
    """Return a job that has been declared for a day."""
    record = JobRecord("/etc/jobs.toml:backup", "backup", definition_key(definition), NOON - DAY, NOON - DAY)
    return record._replace(**fields)


def declared(definition: str = PLAIN, **fields: Any) -> JobBatch:
    """Return the batch that declares the job."""
    return JobBatch({definition_key(definition): definition}, [job(definition, **fields)])


def start(run_id: str = "run 1", definition: str = PLAIN, **fields: Any) -> RunStart:
    """Return the start of the run of noon."""
    key = definition_key(definition)
    found = RunStart(run_id, job().identity, RunKind.PERIOD, NOON, NOON, 1, NOON + 7 * SECOND, key, "boot")
    return found._replace(**fields)


def ran(*ends: RunEnd, definition: str = PLAIN, **fields: Any) -> JobBatch:
    """Return the batch of the run of noon, with its end."""
    return JobBatch(begun=[start(definition=definition, **fields)], ended=list(ends))


def end(result: ResultCode, **fields: Any) -> RunEnd:
    """Return an end of the run of noon."""
    return RunEnd("run 1", NOON + MINUTE, result)._replace(**fields)


def closed(first: int = 0, count: int = 1, definition: str = PLAIN, **fields: Any) -> JobBatch:
    """Return the batch that closes so many hours from noon on."""
    begin, last = NOON + first * HOUR, NOON + (first + count - 1) * HOUR
    record = PeriodRecord(
        job().identity, begin, last, count, last, last, Outcome.MISSED, "downtime", "", definition_key(definition), last
    )  # fmt: skip
    return JobBatch(closed=[record._replace(**fields)])


AROUND = (NOON - 30 * MINUTE, NOON, NOON + 30 * MINUTE)
LEDGER = {
    "nothing recorded": LedgerCase([declared()], (*AROUND, NOON + 30 * SECOND, NOON + 2 * HOUR)),
    "to come": LedgerCase([declared()], AROUND, NOON - HOUR),
    "before the declaration": LedgerCase([declared(declared_at=NOON)], AROUND),
    "forgotten": LedgerCase([declared(handled_until=NOON)], AROUND),
    "removed": LedgerCase([declared(handled_until=NOON - MINUTE, is_declared=False)], AROUND),
    "suspended by its file": LedgerCase([declared(HELD)], AROUND),
    "suspended by command": LedgerCase([declared(is_suspended=True)], AROUND),
    "suspended until": LedgerCase([declared(is_suspended=True, suspended_until=NOON + MINUTE)], AROUND),
    "clock ahead": LedgerCase([declared(handled_until=NOON + DAY)], AROUND, NOON - HOUR),
    "recorded ahead": LedgerCase([declared(), closed(0, 3)], AROUND, NOON - HOUR),
    "at boot": LedgerCase([declared(AT_BOOT)]),
    "at boot, ran": LedgerCase(
        [declared(AT_BOOT), ran(definition=AT_BOOT, kind=RunKind.BOOT, nominal=None, chosen=None)]
    ),
    "running": LedgerCase([declared(), ran()], AROUND),
    "late": LedgerCase([declared(), ran(started=NOON + 5 * MINUTE)], (NOON, NOON + SECOND, NOON + 5 * MINUTE)),
    "succeeded": LedgerCase([declared(), ran(end(ResultCode.SUCCEEDED, exit_code=0))], AROUND),
    "failed": LedgerCase([declared(), ran(end(ResultCode.FAILED, exit_code=3, detail="It said 3."))]),
    "killed": LedgerCase([declared(), ran(end(ResultCode.FAILED, signal="SIGKILL"))]),
    "timeout": LedgerCase([declared(), ran(end(ResultCode.TIMEOUT))]),
    "replaced": LedgerCase([declared(), ran(end(ResultCode.REPLACED, signal="SIGTERM"))]),
    "replaced before it began": LedgerCase([declared(), ran(end(ResultCode.REPLACED, detail="it had not begun"))]),
    "stopped": LedgerCase([declared(), ran(end(ResultCode.STOPPED, exit_code=143))]),
    "not started": LedgerCase([declared(), ran(end(ResultCode.NOT_STARTED, detail="No such file"))]),
    "unknown": LedgerCase([declared(), ran(end(ResultCode.UNKNOWN))]),
    "second attempt": LedgerCase(
        [declared(), ran(end(ResultCode.FAILED, exit_code=1, retry_at=NOON + 2 * MINUTE)),
         JobBatch(begun=[start("run 2", attempt=2, started=NOON + 2 * MINUTE, retry_of="run 1")])],
        (NOON, NOON + 2 * MINUTE, NOON + 3 * MINUTE),
    ),
    "triggered": LedgerCase(
        [declared(), ran(kind=RunKind.TRIGGER, nominal=None, chosen=None, started=NOON + 30 * MINUTE)], AROUND
    ),
    "missed": LedgerCase([declared(), closed()], AROUND),
    "missed with a detail": LedgerCase([declared(), closed(reason="deadline", detail="It was too late.")]),
    "a range": LedgerCase([declared(), closed(-3, 7)], AROUND),
    "skipped": LedgerCase([declared(), closed(outcome=Outcome.SKIPPED, reason="active")]),
    "superseded": LedgerCase([declared(), closed(outcome=Outcome.SKIPPED, reason="superseded")]),
    "unschedulable": LedgerCase(
        [declared(NEVER),
         closed(definition=NEVER, chosen=None, outcome=Outcome.UNSCHEDULABLE, reason=ONLY_SECOND_NOT_ALLOWED)], AROUND,
    ),
    "no second to come": LedgerCase([declared(NEVER)], AROUND),
    "windows": LedgerCase(
        [declared(WINDOWED),
         JobBatch(begun=[start(f"run {hour}", WINDOWED, nominal=NOON + hour * HOUR,
                               chosen=NOON + hour * HOUR + 50 * MINUTE, started=NOON + hour * HOUR + 50 * MINUTE)
                         for hour in range(2)])],
        (NOON + 49 * MINUTE, NOON + 50 * MINUTE, NOON + 80 * MINUTE, NOON + 110 * MINUTE),
    ),
    "an earlier definition": LedgerCase([declared(WINDOWED), closed(definition=WINDOWED), declared()], AROUND),
    "Berlin": LedgerCase([declared(BERLIN), ran(end(ResultCode.SUCCEEDED), definition=BERLIN)], AROUND),
}  # fmt: skip


def ask_ledger(folder: Path, case: LedgerCase) -> Iterator[tuple[str, object]]:
    """Yield each question to a ledger with what it answers."""
    folder.mkdir()
    history = remembered(folder, *case.batches)
    for at in case.at:
        yield format_instant(at), to_dict(Explanation(history.evidence(job().identity, at, case.now)))


# --- of a cluster -----------------------------------------------------------------------------------------------------

REASONS = ("Superseded", "DefinitionChanged", "DeadlineExceeded", "NameTaken", "Rejected", "NoCandidate", "New")
FEBRUARY, MARCH = "2026-02-25T00:00:00Z", "2026-03-02T00:00:00Z"
HALF_PAST = "2026-03-01T07:30:00Z"
_SUCCEEDED: dict[str, Any] = {"conditions": [{"type": "Complete", "status": "True"}]}
_FAILED: dict[str, Any] = {"conditions": [{"type": "Failed", "status": "True"}]}
_NOON, _EARLY, _APRIL = "2026-03-01T12:00:00Z", "2026-03-01T01:00:00Z", "2026-04-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class ClusterCase:
    """What a cluster has of a KronJob, and when what is asked."""

    known: ClusterRecords
    at: Sequence[str] = (CHOSEN, FIRST, _NOON)
    now: str = _NOON


def unseen() -> ClusterRecords:
    """Return a KronJob that no operator has seen."""
    resource = document(window={"duration": "3h"})
    known = records(window={"duration": "3h"})
    return ClusterRecords(known.identity, resource, known.kronjob, ())


CLUSTER = {
    "listed": ClusterCase(records(entry(chosenTime=CHOSEN))),
    "skipped": ClusterCase(records(entry(outcome="skipped", reason="ConcurrencyForbid"))),
    "another second": ClusterCase(records(entry(chosenTime="2026-03-01T01:00:00Z"))),
    "an outage": ClusterCase(records(outage(FEBRUARY, MARCH))),
    "an outage around an entry": ClusterCase(records(entry(), outage(FEBRUARY, MARCH))),
    "an outage around a Job": ClusterCase(records(outage(FEBRUARY, MARCH), jobs=[child()])),
    "ends of an outage": ClusterCase(
        records(outage(HALF_PAST, "2026-03-01T09:45:00Z")), (HALF_PAST, "2026-03-01T09:45:30Z")
    ),
    "an earlier definition": ClusterCase(
        records(entry(HALF_PAST, "missed", chosenTime="2026-03-01T07:41:10Z")), (HALF_PAST, "2026-03-01T07:41:59Z")
    ),
    "a Job": ClusterCase(records(jobs=[child()])),
    "a Job that succeeded": ClusterCase(records(entry(chosenTime=CHOSEN), jobs=[child(**_SUCCEEDED)])),
    "a Job that failed": ClusterCase(records(entry(chosenTime=CHOSEN), jobs=[child(**_FAILED)])),
    "hidden Jobs": ClusterCase(records(entry(), jobs=None)),
    "invalid": ClusterCase(records(timeZone="Mars")),
    "invalid, with a Job": ClusterCase(records(entry(), jobs=[child()], timeZone="Mars")),
    "nothing recorded": ClusterCase(records()),
    "to come": ClusterCase(records(), now=_EARLY),
    "suspended": ClusterCase(records(policy={"suspend": True})),
    "before its creation": ClusterCase(records(created=CHOSEN)),
    "before its definition": ClusterCase(records(defined=CHOSEN)),
    "forgotten": ClusterCase(records(*many(10)), now=_APRIL),
    "not forgotten": ClusterCase(records(*many(9)), now=_APRIL),
    "not seen": ClusterCase(unseen()),
    "no second": ClusterCase(records(constraints={"only": ["between=12:00-13:00"]})),
    "overlapping windows": ClusterCase(records(**HOURLY), ("2026-03-01T05:30:07Z", "2026-03-01T05:00:00Z")),
    "Berlin": ClusterCase(records(timeZone="Europe/Berlin")),
    **{reason: ClusterCase(records(entry(outcome="missed", reason=reason)), (FIRST,)) for reason in REASONS},
    "forged": ClusterCase(
        records(outage("0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z")), (CHOSEN, "2026-03-20T02:00:00Z")
    ),
}  # fmt: skip


def ask_cluster(case: ClusterCase) -> Iterator[tuple[str, object]]:
    """Yield each question to a cluster with what it answers."""
    for text in case.at:
        at = parse_instant(text)
        answer = ClusterExplanation(case.known, at, parse_instant(case.now))
        yield text, {**answer.to_dict(), "answer": cluster_sentence(answer)}


# --- both -------------------------------------------------------------------------------------------------------------


def answers(folder: Path) -> dict[str, object]:
    """Return the answers to all questions, by the case and the instant."""
    found = dict[str, object]()
    for number, (name, ledger) in enumerate(LEDGER.items()):
        found |= {f"ledger, {name}, {at}": answer for at, answer in ask_ledger(folder / str(number), ledger)}
    for name, cluster in CLUSTER.items():
        found |= {f"cluster, {name}, {at}": answer for at, answer in ask_cluster(cluster)}
    return found


def write() -> None:
    """Write today's answers, a line each."""
    with TemporaryDirectory() as folder:
        lines = [
            f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}"
            for name, each in answers(Path(folder)).items()
        ]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    write()
