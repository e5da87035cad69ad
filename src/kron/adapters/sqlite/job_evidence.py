"""EvidenceReader: what a ledger has recorded of a job, or of all jobs, around an instant."""

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import NamedTuple

from kron.adapters.sqlite.job_tables import (
    JOB_ID,
    JOB_SQL,
    SELECT,
    Row,
    definition_of,
    fold_attempts,
    identity_of,
    nominals_of,
    read_history_row,
    read_job,
)
from kron.adapters.sqlite.statements import from_timestamp_optional, to_timestamp
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import InvalidDefinitionError
from kron.instant import MICROSECOND, ZERO, Instant, shift
from kron.rules.evidence import Evidence, RecordedPeriod, evidence_of_job
from kron.rules.history import RunRow
from kron.rules.job_spec import parse_definition, parse_timing
from kron.rules.periods import nominal_range_around, touches_instant

_MINUTE = timedelta(minutes=1)
_LONGEST = timedelta(days=7)  # from the deadline of a period until the last of its attempts begins
_VERSIONS = """SELECT identity, key, text FROM version
    JOIN job ON job.id = version.job JOIN definition ON definition.id = version.definition"""
# Those that end in the span, and ranges that reach into it from beyond.
_SPAN = f"""{SELECT} WHERE entry.id IN (
    SELECT id FROM entry WHERE nominal BETWEEN :first AND :last AND {{which}}
    UNION ALL
    SELECT id FROM entry WHERE nominal > :last AND number > 1 AND first <= :last AND {{which}}
) ORDER BY identity, nominal, attempt"""
_BEGUN = f"""{SELECT} WHERE entry.id IN (
    SELECT id FROM entry WHERE effective >= :since AND effective < :end AND {{which}}
) AND run_id IS NOT NULL AND at >= :begin AND at < :end ORDER BY identity, at, entry.id"""
_ONE, _ALL = f"job = {JOB_ID}", "1"
_PERIODS = f"SELECT id FROM entry WHERE job = {JOB_ID} AND nominal IS NOT NULL AND"
_NEAR = f"""{SELECT} WHERE entry.id IN (
    SELECT * FROM ({_PERIODS} effective <= :at ORDER BY effective DESC LIMIT 1)
    UNION SELECT * FROM ({_PERIODS} effective > :at ORDER BY effective LIMIT 1)
)"""

_AHEAD = f"""SELECT max(effective) FROM entry
    WHERE effective > :now AND at > :now AND nominal IS NOT NULL AND job = {JOB_ID}"""


class _Version(NamedTuple):
    """A definition that a job has had."""

    text: str
    timing: Timing | None  # None: it has no periods, or none that this version of Kron can read


_Versions = Mapping[tuple[str, str], _Version]  # by the identity and the key


class EvidenceReader:
    """Questions about one job, or about all, to a ledger at one moment."""

    def __init__(self, connection: sqlite3.Connection, at: Instant, identity: str | None = None) -> None:
        self._connection, self._at, self._identity = connection, at, identity
        self._which = _ALL if identity is None else _ONE
        where = "" if identity is None else " WHERE identity = :identity"
        rows = connection.execute(f"{_VERSIONS}{where}", {"identity": identity})
        self._versions: _Versions = {(name, key): _Version(text, _timing(name, text)) for name, key, text in rows}

    def evidence(self, now: Instant) -> Evidence:
        """Return what is recorded of the one job, which must be known."""
        identity = self._identity
        assert identity is not None
        record = read_job(self._connection.execute(f"{JOB_SQL} WHERE identity = ?", (identity,)).fetchone())
        near = self._connection.execute(_NEAR, {"identity": identity, "at": to_timestamp(self._at)})
        definition = self._versions[identity, record.definition_key].text
        found = evidence_of_job(record, definition, self._at, now, self._ahead(now))
        touching, started = list(self._periods_at()), list(self._started_at())
        return found._replace(touching=touching, started=started, nearest=[self._told(row) for row in near])

    def _ahead(self, now: Instant) -> Instant | None:
        """Return the latest second of a period that was recorded at an instant that has not come yet."""
        (latest,) = self._connection.execute(_AHEAD, {"identity": self._identity, "now": to_timestamp(now)}).fetchone()
        return from_timestamp_optional(latest)

    def rows(self, *, executions: bool) -> list[RunRow]:
        """Return the rows of what touches the instant; `executions`: one for all attempts of an execution."""
        found = list(self._periods_at())
        names = {told.row.run_id for told in found} - {None}
        found += [told for told in self._started_at() if told.row.run_id not in names]
        rows: dict[object, RunRow] = {}
        for number, (nominal, row, definition) in enumerate(found):
            if nominal is not None and definition is not None and row.is_range:
                row = row.narrow_to_period(decide(parse_timing(row.identity, definition), nominal))
            row = fold_attempts(self._connection, row) if executions else row
            rows[(executions and row.run_id) or number] = row
        return list(rows.values())

    def _periods_at(self) -> Iterator[RecordedPeriod]:
        """Yield the periods with an outcome that have the instant in their nominal minute or in their window."""
        at = self._at
        reaches = [nominal_range_around(each.timing, at) for each in self._versions.values() if each.timing is not None]
        if not reaches:
            return
        first, last = min(first for first, _ in reaches), max(last for _, last in reaches)
        span = {"identity": self._identity, "first": to_timestamp(first), "last": to_timestamp(last)}
        for row in self._connection.execute(_SPAN.format(which=self._which), span):
            nominals, version = nominals_of(row), self._versions[identity_of(row), definition_of(row)]
            if nominals is None or version.timing is None:
                continue
            begin, end = nominals
            inside = [end]
            if begin < end:
                around = nominal_range_around(version.timing, at)
                between = max(begin, around[0]) - MICROSECOND, min(end, around[1])
                inside = list(version.timing.schedule.between(*between))
            touching = [nominal for nominal in inside if touches_instant(version.timing, nominal, at)]
            if touching:
                answer = read_history_row(row)
                yield from (RecordedPeriod(nominal, answer, version.text) for nominal in touching)

    def _started_at(self) -> Iterator[RecordedPeriod]:
        """Yield the attempts that began within the minute of the instant, also those without a period."""
        begin = self._at.replace(second=0, microsecond=0)
        times = {
            "begin": to_timestamp(begin),
            "end": to_timestamp(begin + _MINUTE),
            "since": to_timestamp(self._earliest(begin)),
        }
        rows = self._connection.execute(_BEGUN.format(which=self._which), {"identity": self._identity, **times})
        return (self._told(row) for row in rows)

    def _earliest(self, at: Instant) -> Instant:
        """Return since when a period may have been due of which an attempt begins at an instant."""
        texts = {each.text for each in self._versions.values() if each.timing is not None}
        deadlines = (parse_definition("job", text)[1].deadline for text in texts)
        return shift(at, -_LONGEST - max(deadlines, default=ZERO))

    def _told(self, row: Row) -> RecordedPeriod:
        nominals, version = nominals_of(row), self._versions[identity_of(row), definition_of(row)]
        return RecordedPeriod(None if nominals is None else nominals[1], read_history_row(row), version.text)


def _timing(identity: str, definition: str) -> Timing | None:
    try:
        return parse_timing(identity, definition)
    except InvalidDefinitionError:
        return None
