"""kron explain --replay: every decision in a log of krond or of the operator is computed again."""

import io
import json
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.sinks import JsonLinesSink
from kron.cli.explain import LogReplay, Replayed
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.hosts.krond.events import JobEvents
from kron.instant import Instant, format_instant
from tests.cli.kron_runner import CommandResult, kron
from tests.engine.jobs.restartable_host import DAY, HOUR, MINUTE, NOON, SECOND, RestartableHost, lived, work

OUTAGE = 5_000 * MINUTE
SPREAD = "* * * * * @win(after,30s) @seed(stable,salt=yard)"
PARIS = (
    "*/20 * * * * @tz(Europe/Paris) @dst(gap=shift,repeated=first) @win(around,20m) @dist(skewLate,shape=2.5) "
    '@seed(daily,salt="a, b") @only(hours=1-6,20;dow=MON-FRI) @avoid(between=03:10-03:20)'
)
Decided = tuple[str, str, str | None]


@pytest.fixture(scope="module")
def log() -> str:
    """The log of a krond that runs for two hours, is down for 5,000 minutes, and runs for an hour more."""
    stream = io.StringIO()

    async def story(host: RestartableHost) -> None:
        host.observers.append(JobEvents(JsonLinesSink(stream, host.clock.now)))
        works = work(SPREAD, "spread"), work(PARIS, "paris", deadline="1h")
        await host.begin(*works)
        await host.clock.advance(2 * HOUR)
        await host.crash(OUTAGE)
        await host.begin(*works)
        await host.clock.advance(HOUR)

    lived(story)
    return stream.getvalue()


def short(log: str) -> str:
    return "".join(log.splitlines(keepends=True)[:30])


def end_of_log() -> Instant:
    return NOON - MINUTE + 2 * HOUR + OUTAGE + HOUR


def replayed(log: str, *words: str) -> CommandResult:
    return kron("explain", "--replay", "-", *words, stdin=log)


def decided(answer: CommandResult) -> list[Decided]:
    rows = [json.loads(line) for line in answer.out.splitlines()]
    return [(row["identity"], row["period_id"], row["chosen_time"]) for row in rows]


def events(log: str, name: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, log.splitlines()) if line["event"] == name]


# --- what a log says --------------------------------------------------------------------------------------------------


def test_the_event_of_a_range_has_the_schedule_line_its_first_and_its_last_period_and_their_number(log: str) -> None:
    missed = max(events(log, "PeriodMissed"), key=lambda line: int(line.get("count") or 0))

    first, last = missed["first_period_id"], missed["last_period_id"]
    assert missed["decisions"] == {
        "identity": "spread",
        "definition": SPREAD,
        "first_period_id": first,
        "last_period_id": last,
        "count": missed["count"],
    }
    assert missed["count"] == 1 + (datetime.fromisoformat(last) - datetime.fromisoformat(first)) // MINUTE >= 4_990


def test_the_line_of_a_range_says_all_that_influences_its_decisions(log: str) -> None:
    ranges = [line["decisions"] for line in map(json.loads, log.splitlines()) if "decisions" in line]
    lines = {found["definition"] for found in ranges if found["identity"] == "paris"}

    assert {Timing.parse(line, identity="paris") for line in lines} == {Timing.parse(PARIS, identity="paris")}


def test_the_event_of_one_period_has_its_decision_before_it_and_no_range(log: str) -> None:
    closed = [line for line in map(json.loads, log.splitlines()) if line["event"] in ("PeriodMissed", "PeriodSkipped")]

    assert all(("decisions" in line) == (line["kind"] == "range") for line in closed)


# --- the replay -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_log_alone_gives_every_decision_that_an_independent_computation_gives(log: str) -> None:
    answer = replayed(log, "--json")

    found = decided(answer)
    assert answer.code == 0
    assert set(found) == {*by_hand("spread", "yard", 30), *by_timing("paris", PARIS)}
    assert len(found) == len(set(found)) > 5_000


def by_hand(identity: str, salt: str, width: int) -> Iterator[Decided]:
    """Yield the decisions of a minutely job from the definitions of docs/algorithm.md, without Kron's code."""
    mask = (1 << 64) - 1
    start, nominal = NOON - MINUTE, NOON - 2 * MINUTE
    while (nominal := nominal + MINUTE) <= end_of_log():
        period = nominal.strftime("%Y-%m-%dT%H:%M:%SZ")
        state = int.from_bytes(sha256(f"{identity}\n{period}\n{salt}".encode()).digest()[:8], "big")
        z = (state + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        u = ((z ^ (z >> 31)) >> 11) / 2**53
        chosen = nominal + SECOND * int(u * (width + 1))
        if start < chosen <= end_of_log():
            yield identity, period, chosen.strftime("%Y-%m-%dT%H:%M:%SZ")


def by_timing(identity: str, line: str) -> Iterator[Decided]:
    """Yield the decisions of a job from its line, as far as they are due while the log is written."""
    timing = Timing.parse(line, identity=identity)
    for nominal in timing.schedule.between(NOON - DAY, end_of_log() + DAY):
        decision = decide(timing, nominal)
        chosen = decision.chosen_time
        if NOON - MINUTE < (chosen or decision.window_start) <= end_of_log():
            yield identity, decision.period_id, None if chosen is None else format_instant(chosen)


def test_a_log_is_listed_for_people_with_a_summary(log: str, tmp_path: Path) -> None:
    file = tmp_path / "krond.log"
    file.write_text(short(log), "utf-8")

    answer = kron("explain", "--replay", str(file))

    head, first, *_ = answer.out.splitlines()
    assert answer.code == 0
    assert head.split() == ["chosen", "identity", "period"]
    assert first.split()[1] in ("spread", "paris")
    assert first.endswith("  same")
    assert "decisions: " in answer.err
    assert answer.err.endswith("; 0 differ or fail\n")


def test_a_second_that_was_altered_is_a_mismatch_with_its_line(log: str) -> None:
    number, line = next((at, line) for at, line in enumerate(log.splitlines(), 1) if '"DecisionMade"' in line)
    chosen = json.loads(line)["chosen_time"]
    other = format_instant(datetime.fromisoformat(chosen) + (SECOND if chosen < "2026-03-02T12:00:10Z" else -SECOND))
    altered = short(log).replace(line, line.replace(f'"chosen_time": "{chosen}"', f'"chosen_time": "{other}"'), 1)

    answer, as_json = replayed(altered), replayed(altered, "--json")

    assert answer.code == as_json.code == 1
    assert f"differs: chosen_time recorded {other}, here {chosen}" in answer.out
    (row,) = (row for row in map(json.loads, as_json.out.splitlines()) if row["same"] is False)
    assert (row["line"], row["differs"]) == (number, ["chosen_time"])


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("count", 3, "decisions.count of a is 3, and the definition names 60"),
        ("count", 90, "decisions.count of a is 90, and the definition names 60"),
        ("count", 10**3000, "decisions.count of a is 1,000,000,0"),
        ("last_period_id", "9999-12-31T23:59:00Z", "is 60, and the definition names 4,193,832,960"),
        ("count", 0, "decisions.count must be a whole number from 1 on, found 0"),
        ("definition", "0 0 * *", "decisions.definition cannot be read"),
        ("definition", 7, "decisions.definition must be a text, found 7"),
        ("definition", "30 * * * *", "decisions.first_period_id of a is 2026-03-01T00:00:00Z, which"),
        ("last_period_id", "2026-03-01T00:59:30Z", "decisions.last_period_id of a is 2026-03-01T00:59:30Z, which"),
        ("last_period_id", "noon", "decisions.last_period_id must be an RFC 3339 instant, found 'noon'"),
        ("first_period_id", "2026-04-01T00:00:00Z", "must not be later than last_period_id"),
        ("first_period_id", "0001-01-01T00:00:00Z", "decisions.first_period_id lies before the calendar"),
        ("identity", "", "decisions.definition cannot be read"),
    ],
)
def test_a_range_that_does_not_hold_what_it_says_is_one_clear_message(field: str, value: object, said: str) -> None:
    answer = replayed(line_of_range(**{field: value}))

    assert answer.code == 1
    first, summary = answer.err.splitlines()
    assert first.startswith("kron: line 1: ")
    assert said in first
    assert summary.endswith("; 1 differ or fail")


def test_empty_lines_before_a_log_cost_no_more_than_others() -> None:
    answer = replayed("\n" * 200_000 + line_of_range(count=60) + line_of_range(count=61))

    assert "kron: line 200002: decisions.count of a is 61" in answer.err


def line_of_range(**changes: object) -> str:
    found = {
        "identity": "a",
        "definition": "* * * * *",
        "first_period_id": "2026-03-01T00:00:00Z",
        "last_period_id": "2026-03-01T00:59:00Z",
        "count": 60,
        **changes,
    }
    return json.dumps({"time": "2026-03-01T02:00:00Z", "event": "PeriodMissed", "decisions": found}) + "\n"


def test_a_definition_that_gives_another_decision_than_the_recorded_one_of_its_last_period_is_a_mismatch() -> None:
    timing = Timing.parse("* * * * * @win(after,30s)", identity="a")
    last = decide(timing, datetime.fromisoformat("2026-03-01T00:59:00Z"))
    recorded = json.dumps({"event": "DecisionMade", **last.to_dict()}) + "\n"

    same = replayed(recorded + line_of_range(definition=timing.to_line()), "--json")
    other = replayed(recorded + line_of_range(definition="* * * * *"), "--json")

    assert (same.code, len(decided(same))) == (0, 60)
    assert other.code == 1
    (row,) = (row for row in map(json.loads, other.out.splitlines()) if row["same"] is False)
    assert row["period_id"] == "2026-03-01T00:59:00Z"
    assert "window_end" in row["differs"]


# --- logs as they are -------------------------------------------------------------------------------------------------

MADE = json.dumps(
    {"event": "DecisionMade", **decide(Timing.parse("0 * * * * @win(after,1h)", identity="a"), NOON).to_dict()}
)


def test_lines_that_are_not_json_are_counted_and_the_first_is_named() -> None:
    answer = replayed(f"{MADE}\nnot JSON\n\n[1]\n{{broken}}\n{MADE}\n", "--json")

    assert (answer.code, len(answer.out.splitlines())) == (0, 2)
    assert "kron: 3 lines are not JSON and left out, the first is line 2\n" in answer.err


def test_a_log_that_ends_inside_of_a_line_is_read_until_there() -> None:
    answer = replayed(f"{MADE}\n{MADE[:100]}", "--json")

    assert (answer.code, len(answer.out.splitlines())) == (0, 1)
    assert "kron: line 2: the log ends inside of this line; it is left out\n" in answer.err
    assert "not JSON" not in answer.err


def test_a_time_or_a_name_before_the_object_of_a_line_is_skipped() -> None:
    prefixed = f"2026-03-02T12:00:00Z {MADE}\nMar 02 12:00:00 host krond[7]: {MADE}\n"

    assert len(decided(replayed(prefixed, "--json"))) == 2


def test_an_unknown_version_of_the_algorithm_is_named_with_its_line() -> None:
    later = MADE.replace('"algorithm_version": 1', '"algorithm_version": 2')

    answer = replayed(f"{MADE}\n{later}\n")

    assert answer.code == 1
    assert "kron: line 2: Invalid decision: algorithm_version must be 1" in answer.err


def test_other_time_zone_data_is_one_message_for_all_decisions() -> None:
    earlier = json.dumps({**json.loads(MADE), "tzdata_version": "1999a"})

    answer = replayed(f"{earlier}\n{earlier}\n{MADE}\n")

    assert answer.code == 0
    assert answer.err.count("1999a") == 1
    assert "kron: 2 decisions were recorded with time zone data 1999a, and computed here with 2" in answer.err


def test_events_that_the_host_dropped_are_named() -> None:
    answer = replayed(f"{MADE}\n{json.dumps({'event': 'EventsDropped', 'count': 7})}\n")

    assert "the host dropped 7 events: decisions may be missing in the log" in answer.err


def test_a_text_without_any_event_is_no_log() -> None:
    answer = replayed("hello\nworld\n")

    assert answer.code == 2
    assert answer.err.startswith(
        "kron: error: Invalid decision: text is not JSON, and no line of it is; krond run --log"
    )


def test_a_log_without_decisions_has_none() -> None:
    answer = replayed('{"event": "KrondReady"}\n', "--json")

    assert (answer.code, answer.out) == (0, "")
    assert "0 decisions" in answer.err


def test_the_periods_of_a_range_are_computed_as_they_are_asked_for() -> None:
    year = line_of_range(last_period_id="2027-02-28T23:59:00Z", count=525_600)
    log = LogReplay()

    found = list(islice(log.read([year.encode()]), 3))

    periods = [each.decision.period_id for each in found if isinstance(each, Replayed)]
    assert periods == [f"2026-03-01T00:0{minute}:00Z" for minute in range(3)]
    assert log.computed == 3
