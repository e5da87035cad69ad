"""kron verify: judge a trace, print a table, JSON or a page, and exit with a documented code."""

import os
import subprocess
from pathlib import Path

import pytest

from kron.theory.trace_format import TraceHeader, write_event, write_header
from tests.cli.kron_runner import kron
from tests.theory.period_traces import period_trace
from tests.theory.traces import trace

SOUND = "I@0 RS@300 REs@301 SS@400 SE@400"
LATE = "I@0 SS@400 SE@400"
DOUBLE = "I@0 RS@300 REs@301 RS@302 REs@303 SS@400 SE@400"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def save(file: Path, text: str, contract: str = "declarative") -> str:
    lines = [write_header(TraceHeader(contract)), *(write_event(position) for position in trace(text))]
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return str(file)


def test_a_sound_trace_exits_with_0_and_says_so(file: Path) -> None:
    answer = kron("verify", save(file, SOUND))

    assert answer.code == 0
    assert "✔ holds: 7 positions under the contract declarative" in answer.out


def test_a_violation_exits_with_1_and_names_property_line_and_blame(file: Path) -> None:
    answer = kron("verify", save(file, DOUBLE))

    assert answer.code == 1
    assert "S1  ✘ violated" in answer.out
    assert "a start at 4, but nothing is owed" in answer.out
    assert "to blame: scheduler" in answer.out


def test_simultaneous_actions_are_a_violation_of_the_environment(file: Path) -> None:
    answer = kron("verify", save(file, "I@0 RS&SS@300 REs@301 SE@400"))

    assert answer.code == 1
    assert "E3  ✘ violated" in answer.out
    assert "to blame: environment" in answer.out


def test_a_trace_that_names_its_dues_in_lists_gets_none_added(file: Path) -> None:
    answer = kron("verify", save(file, "I@0 Due&Due(b)@310 RS@311 REs@312"), "--html", str(file.with_suffix(".html")))

    assert "✔ holds: 5 positions" in answer.out
    assert file.with_suffix(".html").read_text().count("line 2: Due") == 2


def test_a_policy_of_a_job_that_is_violated_is_explained(file: Path) -> None:
    lines = period_trace(
        "I D1(;deadline=10,forbid)&O1(executed;accepted=121)&RS1@121 REs1@122 D2&O2(executed)&RS2@149.5"
    )
    texts = [write_header(TraceHeader("kron", slack=5_000)), *map(write_event, lines)]
    file.write_text("".join(f"{text}\n" for text in texts), "utf-8")

    answer = kron("verify", str(file))

    assert answer.code == 1
    assert "I8  ✘ violated" in answer.out
    assert "starts 0.5 s before its chosen time, at 4" in answer.out
    assert "I9  ✘ violated" in answer.out
    assert "accepted 31 s after its chosen time, but its deadline is 10 s and the slack 5 s, at 2" in answer.out
    assert "to blame: scheduler" in answer.out


def test_a_violation_of_the_environment_alone_exits_with_1_too_and_says_whose_it_is(file: Path) -> None:
    answer = kron("verify", save(file, "I@0 RS@300 REs@301 REs@302"))

    assert answer.code == 1
    assert "to blame: environment" in answer.out


def test_an_open_verdict_is_no_violation(file: Path) -> None:
    answer = kron("verify", save(file, "I@0 RS@300"))

    assert answer.code == 0
    assert "… open" in answer.out


def test_json_has_the_verdict_and_every_property(file: Path) -> None:
    answer = kron("verify", save(file, LATE), "--json")

    assert answer.code == 1
    assert answer.json["verdict"] == "violated"
    by_name = {each["name"]: each for each in answer.json["properties"]}
    assert by_name["S1"]["verdict"] == "holds"
    assert by_name["E4"]["verdict"] == "undecided"
    assert (by_name["L1"]["verdict"], by_name["L1"]["at"], by_name["L1"]["blame"]) == ("violated", 2, "scheduler")


def test_a_trace_that_names_its_dues_gets_none_added(file: Path) -> None:
    assert kron("verify", save(file, "I@0 Due@100 RS@100 REs@101 End@400")).code == 0


def test_retries_are_added_even_then_unless_they_are_named_too(file: Path) -> None:
    assert kron("verify", save(file, "I@0 Due@100 RS@100 REf@101 RS@401 REs@402 End@403")).code == 0
    assert kron("verify", save(file, "I@0 Due@100 RS@100 REf@101 RetryDue@102 RS@102 REs@103 End@104")).code == 0


def test_the_older_model_has_its_own_properties(file: Path) -> None:
    answer = kron("verify", save(file, DOUBLE, "polling"), "--json")

    assert {each["name"] for each in answer.json["properties"]} >= {"P1", "P17"}


def test_the_page_draws_a_lane_for_each_task_and_marks_the_violation(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    kron("verify", save(file, DOUBLE), "--html", str(page))

    text = page.read_text("utf-8")
    assert text.count("<svg") == 1
    assert ">a</text>" in text
    assert 'id="line4"' in text


@pytest.mark.parametrize(
    ("content", "line", "word"),
    [
        ("", 1, "header"),
        ('{"trace": 2}\n', 1, "trace"),
        ('{"trace": 1, "contract": "best"}\n', 1, "contract"),
        ('{"trace": 1, "contract": "declarative"}\n{"t": 5, "eve', 2, "cut off"),
        ('{"trace": 1, "contract": "declarative"}\n{"t": 5, "event": "Lunch"}\n', 2, "InitStart"),
        (
            '{"trace": 1, "contract": "polling"}\n{"t": 5, "event": "Thaw"}\n{"t": 4, "event": "Thaw"}\n',
            3,
            "before",
        ),
        ('{"trace": 1, "contract": "declarative"}\n{"t": 5, "event": "InitSuccess", "call": 1}\n', 2, "in progress"),
    ],
    ids=["empty", "version", "contract", "cut", "event", "time", "call"],
)
def test_an_invalid_trace_gets_one_error_with_its_line(file: Path, content: str, line: int, word: str) -> None:
    file.write_text(content, "utf-8")

    answer = kron("verify", str(file))

    assert answer.code == 2
    assert f"Line {line}:" in answer.err
    assert word in answer.err


def test_an_unknown_zone_is_an_error_not_a_crash(file: Path) -> None:
    file.write_text('{"trace": 1, "contract": "declarative", "timezone": "Mars/Base"}\n', "utf-8")

    answer = kron("verify", str(file))

    assert answer.code == 2
    assert "Mars/Base" in answer.err


def test_a_file_that_is_not_there_is_wrong_usage(file: Path) -> None:
    answer = kron("verify", str(file))

    assert answer.code == 2
    assert "No such file" in answer.err


def test_a_page_that_cannot_be_written_is_the_one_that_is_named(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "nowhere" / "page.html"

    answer = kron("verify", save(file, SOUND), "--html", str(page))

    assert answer.code == 2
    assert str(page) in answer.err


def test_a_line_that_is_not_utf8_is_named_however_far_into_the_file_it_is(file: Path) -> None:
    path = save(file, SOUND)
    lines = [f'{{"t": {500_000 + number}, "event": "Freeze"}}'.encode() for number in range(1_000)]
    file.write_bytes(file.read_bytes() + b"\n".join([*lines, b'{"t": 600000, "event": "Thaw", "note": "\xe9"}', b""]))

    answer = kron("verify", path)

    assert answer.code == 2
    assert "Line 1008: line must be UTF-8 (byte 41 is not)" in answer.err


def test_deep_json_that_speaks_of_dues_is_no_trace(file: Path) -> None:
    path = save(file, "I@0")
    deep = "[" * 100_000 + "]" * 100_000
    file.write_text(f'{file.read_text("utf-8")}{{"t": 1, "event": "Due", "task": {deep}}}\n', "utf-8")

    answer = kron("verify", path)

    assert answer.code == 2
    assert "Line 4" in answer.err


def test_a_trace_may_come_through_a_pipe(file: Path, tmp_path: Path) -> None:
    save(file, SOUND)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["/bin/cp", file, pipe])

    answer = kron("verify", str(pipe))

    assert writer.wait() == 0
    assert answer.code == 0
    assert "✔ holds: 7 positions" in answer.out
