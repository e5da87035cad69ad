"""kron verify --recompute: the decisions of a trace are computed again, and every difference is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import epoch_milliseconds, format_instant, from_epoch_milliseconds, parse_instant
from kron.theory.trace_format import TraceEvent, TraceHeader, events_of, write_event, write_header
from tests.cli.kron_runner import kron
from tests.trace.test_due_events import SPREAD, Trace, chosen

LINE = "0 0 * * * @win(after,3h) @seed(stable,salt=backup)"
IDENTITY, PERIOD = "prod/db-backup", "2026-03-01T00:00:00Z"
CHOSEN = "2026-03-01T02:32:20Z"  # a published case of the algorithm
NOON = epoch_milliseconds(parse_instant("2026-03-02T12:00:00Z"))
HOUR = 3_600_000


def decision(**fields: object) -> dict[str, Any]:
    """Return the line of a decision that is as it should be, but for some fields."""
    made = decide(Timing.parse(LINE, identity=IDENTITY), parse_instant(PERIOD))
    right = {"t": 1772323200000, "event": "Decision", "identity": IDENTITY, "period": PERIOD,
        "windowStart": PERIOD, "windowEnd": "2026-03-01T03:00:00Z", "chosen": CHOSEN, "seedHash": made.seed_hash,
        "definition": LINE}  # fmt: skip
    return {**right, **fields}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def recompute(file: Path, *lines: Any, header: TraceHeader | None = None) -> Any:
    texts = [write_header(header or TraceHeader("kron")), *map(json.dumps, lines)]
    file.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return kron("verify", str(file), "--recompute", "--json")


def differences(answer: Any) -> list[tuple[int, str, str, str]]:
    """Return line, field, and both values of each difference."""
    found = answer.json["recompute"]["differences"]
    return [(each["at"], each["field"], each["recorded"], each["recomputed"]) for each in found]


def test_a_decision_that_was_made_as_its_definition_says_is_the_same_again(file: Path) -> None:
    answer = recompute(file, decision(), decision(chosen=epoch_milliseconds(parse_instant(CHOSEN))))

    assert answer.code == 0
    assert answer.json["recompute"] == {"compared": {"Decision": 2}, "skipped": {}, "different": 0, "differences": []}
    assert answer.json["properties"][-1]["name"] == "R"
    assert answer.json["properties"][-1]["verdict"] == "holds"


def test_a_decision_that_shares_a_line_is_computed_again_too(file: Path) -> None:
    outcome = {"t": 1772323200000, "event": "Outcome", "identity": IDENTITY, "period": PERIOD, "outcome": "missed"}

    answer = recompute(file, [outcome, decision(chosen="2026-03-01T02:32:21Z")])

    assert differences(answer) == [(0, "chosen", "2026-03-01T02:32:21Z", CHOSEN)]


def test_dues_that_share_a_line_are_found_again(file: Path) -> None:
    trace = Trace()
    trace.lists(NOON, a="10 * * * *", b="10 * * * *")
    trace.put(NOON + HOUR, "Thaw")

    answer = recompute(file, *map(json.loads, map(write_event, trace.lines)), header=NAMED)

    assert [len(events_of(line)) for line in trace.lines] == [1, 1, 2, 1]
    assert answer.json["recompute"]["compared"] == {"Due": 2}
    assert answer.json["recompute"]["different"] == 0


@pytest.mark.parametrize(
    ("field", "value", "right"),
    [
        ("chosen", "2026-03-01T02:32:21Z", CHOSEN),
        ("chosen", None, CHOSEN),
        ("windowStart", "2026-02-28T23:00:00Z", PERIOD),
        ("windowEnd", "2026-03-01T04:00:00Z", "2026-03-01T03:00:00Z"),
        ("seedHash", "0" * 64, decision()["seedHash"]),
    ],
)
def test_each_field_that_differs_is_named_with_both_values(file: Path, field: str, value: object, right: str) -> None:
    answer = recompute(file, decision(), decision(definition=f"{LINE} @tz(UTC)", **{field: value}))

    assert answer.code == 1
    assert answer.json["verdict"] == "violated"
    assert differences(answer) == [(1, field, "none" if value is None else value, right)]
    assert (answer.json["properties"][-1]["at"], answer.json["properties"][-1]["blame"]) == (1, "scheduler")


def test_the_table_names_line_field_and_both_values(file: Path) -> None:
    recompute(file, decision(chosen="2026-03-01T02:32:21Z"), decision(definition="v1"))

    answer = kron("verify", str(file), "--recompute")

    assert answer.code == 1
    assert "R   ✘ violated" in answer.out
    difference = f"chosen of Decision at 0 was recorded as 2026-03-01T02:32:21Z, and is {CHOSEN}"
    assert f"prod/db-backup: {difference} [scheduler]" in answer.out
    assert "recomputed: 1 Decision; different: 1; could not be: 1 Decision (at 1: its definition is no" in answer.out


def test_a_period_that_the_schedule_does_not_name_is_a_difference(file: Path) -> None:
    answer = recompute(file, decision(period="2026-03-01T00:01:00Z"))

    assert differences(answer) == [(0, "period", "2026-03-01T00:01:00Z", f"none; the one before is {PERIOD}")]


def test_an_unschedulable_period_is_found_to_be_one_again(file: Path) -> None:
    line = "0 18 * * * @win(after,1h) @seed(stable,salt=lights) @only(between=18:58-19:00)"
    made = decide(Timing.parse(line, identity="home/lights"), parse_instant("2026-03-02T18:00:00Z"))
    assert made.chosen_time is None
    fields = {"identity": "home/lights", "period": "2026-03-02T18:00:00Z", "definition": line, "chosen": None}
    bounds = {"windowStart": format_instant(made.window_start), "windowEnd": format_instant(made.window_end)}

    answer = recompute(file, decision(**fields, **bounds, seedHash=made.seed_hash))

    assert (answer.code, answer.json["recompute"]["compared"]) == (0, {"Decision": 1})


def test_a_definition_that_is_no_line_is_counted_and_no_violation(file: Path) -> None:
    answer = recompute(file, decision(definition="5f3c" * 16), decision(definition="61 0 * * *"))

    assert (answer.code, answer.json["recompute"]["skipped"]) == (0, {"Decision": 2})


def test_instants_outside_the_calendar_are_a_difference_not_a_crash(file: Path) -> None:
    answer = recompute(file, decision(windowStart=-(10**30), period="9999-12-31T00:00:00Z"))

    assert answer.code == 1


def test_an_invalid_trace_still_gets_one_error_with_its_line(file: Path) -> None:
    file.write_text(f"{write_header(TraceHeader('kron'))}\n{json.dumps(decision(chosen='noon'))}\n")

    answer = kron("verify", str(file), "--recompute")

    assert answer.code == 2
    assert "Line 2:" in answer.err


# --- dues -------------------------------------------------------------------------------------------------------------

NAMED = TraceHeader("declarative", names_dues=True)


def lines_of(positions: list[TraceEvent]) -> list[dict[str, Any]]:
    return [{"t": position.time_ms, "event": position.kind, **position.fields} for position in positions]


def day() -> list[dict[str, Any]]:
    """Return a trace of some hours that names its Dues, all of them served."""
    trace = Trace(a="jobs.kron:a")
    trace.lists(NOON - 1, a=SPREAD, b="0 0 1 6 *")
    for hour in (12, 13, 14):
        trace.put(chosen(SPREAD, "jobs.kron:a", hour), "RunStart", task="a")
        trace.put(chosen(SPREAD, "jobs.kron:a", hour), "RunSuccess", task="a")
    trace.put(NOON + 3 * HOUR - 3, "StopStart", call=1)
    trace.put(NOON + 3 * HOUR - 2, "StopEnd", call=1)
    trace.lists(NOON + 3 * HOUR - 1, b="15 * * * *")
    return lines_of(trace.positions)


def test_the_dues_of_a_trace_that_names_them_are_the_same_again(file: Path) -> None:
    answer = recompute(file, *day(), header=NAMED)

    assert answer.code == 0
    assert answer.json["recompute"]["compared"] == {"Due": 3}


def test_a_due_at_another_second_is_named_with_the_right_one(file: Path) -> None:
    lines = day()
    place = next(number for number, line in enumerate(lines) if line["event"] == "Due")
    due = lines[place]["t"]
    lines[place] = {**lines[place], "t": due - 1000}

    answer = recompute(file, *lines, header=NAMED)

    assert answer.code == 1
    (difference,) = differences(answer)
    assert difference == (place, "t", text(due - 1000), text(due))
    assert answer.json["properties"][-1]["blame"] == "environment"


def test_a_due_that_is_missing_and_one_too_many_are_differences(file: Path) -> None:
    lines = day()
    gone = next(line for line in lines if line["event"] == "Due")
    extra = {"t": lines[-1]["t"], "event": "Due", "task": "b"}

    answer = recompute(file, *[line for line in lines if line is not gone], extra, header=NAMED)

    found = differences(answer)
    assert [(recorded, recomputed) for _, _, recorded, recomputed in found] == [
        ("none", text(gone["t"])),
        (text(extra["t"]), "none"),
    ]


def test_the_last_dues_are_compared_too(file: Path) -> None:
    lines = [{**line, "lastDue": {"b": 0}} if "lastDue" in line else line for line in day()]

    answer = recompute(file, *lines, header=NAMED)

    (difference,) = differences(answer)
    assert difference[1:] == ("lastDue", "1970-01-01T00:00:00Z", text(NOON + 2.25 * HOUR))


def test_dues_of_tasks_that_no_list_names_are_counted(file: Path) -> None:
    answer = recompute(file, {"t": 0, "event": "Due", "task": "a"}, header=NAMED)

    assert (answer.code, answer.json["recompute"]["skipped"]) == (0, {"Due": 1})


def test_a_trace_that_names_no_due_has_nothing_to_compare(file: Path) -> None:
    answer = recompute(file, *lines_of(plain()), header=TraceHeader("declarative"))

    assert (answer.code, answer.json["recompute"]["compared"]) == (0, {})


def plain() -> list[TraceEvent]:
    items = [{"name": "a", "cron": "5 * * * *", "retryDelayMs": 0}]
    return [TraceEvent(0, "InitStart", {"call": 1, "registrations": items}), TraceEvent(0, "InitSuccess", {"call": 1})]


MODULE = """
from datetime import timedelta

async def work(): ...

minute = timedelta(minutes=1)
registrations = [
    ("around", "0 */3 * * * @win(around,4h)", work, minute), ("paris", "30 2 * * * @tz(Europe/Paris)", work, minute)
]
"""


def test_a_simulated_life_comes_out_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("recomputed.py").write_text(MODULE)
    accidents = ("--crashes", "6", "--changes", "6", "--jumps", "12", "--stops", "4")
    terms = ("--dialect", "extended", "--from", "2026-03-27T00:00:00Z", "--days", "4")
    kron("simulate", "recomputed:registrations", *terms, *accidents)

    answer = kron("verify", "trace.jsonl", "--recompute", "--json")

    assert answer.code == 0
    assert answer.json["recompute"]["compared"]["Due"] > 20
    assert answer.json["recompute"]["different"] == 0


def text(t: float) -> str:
    return format_instant(from_epoch_milliseconds(round(t)))
