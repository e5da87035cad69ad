"""Output of commands: aligned columns, safe JSON, findings and exit codes."""

import json

import click
import pytest
from click.testing import CliRunner

from kron.console.drawing import week_strips
from kron.console.output import display_width, exit_with_findings, pad, print_json, print_table, progress
from kron.decision.decide import decide
from kron.errors.diagnostics import Diagnostic, as_errors
from kron.forecast.runs import ForecastJob
from kron.instant import parse_instant
from kron.jobfile.job import Job

ERROR = Diagnostic("error", "schedule", "has four fields")
WARNING = Diagnostic("warning", "window", "is long")

WIDTHS = {
    "nothing": ("", 0),
    "ASCII": ("backup", 6),
    "accents": ("prüfen", 6),
    "Chinese": ("备份", 4),
    "full-width forms": ("ＡＢ", 4),
    "half-width katakana": ("ｶﾅ", 2),
    "a combining accent": ("e\u0301", 1),
    "a Thai vowel above": ("ก\u0e31น", 2),
    "an emoji": ("💾", 2),
}


@pytest.mark.parametrize(("text", "columns"), WIDTHS.values(), ids=WIDTHS)
def test_a_text_is_as_wide_as_a_terminal_shows_it(text: str, columns: int) -> None:
    assert display_width(text) == columns
    assert display_width(pad(text, 10)) == 10


def test_a_table_aligns_its_columns_whatever_the_width_of_a_character(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("job", "next"), [("备份", "03:00"), ("backup", "04:00"), ("e\u0301", "05:00")], empty="")

    lines = capsys.readouterr().out.splitlines()
    assert [display_width(line[: line.index("0")]) for line in lines[1:]] == [8, 8, 8]
    assert lines[0] == "job     next"


def test_a_table_shows_control_characters_of_a_cell_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("job",), [("a\x1b[2J",)], empty="")

    assert capsys.readouterr().out == "job\na\\x1b[2J\n"


def test_a_table_without_rows_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("job",), [], empty="no jobs")

    assert capsys.readouterr().out == "no jobs\n"


def test_the_strips_of_a_week_begin_in_the_same_column() -> None:
    names = {"备份": "备份", "backup": "backup"}
    entries = [ForecastJob(name, Job.parse("0 3 * * *", identity=name).timing) for name in names]
    decisions = [decide(entry.timing, parse_instant("2026-03-02T03:00:00Z")) for entry in entries]

    _, *strips = week_strips(decisions, names)

    assert {display_width(strip[: strip.index("·")]) for strip in strips} == {8}


def test_json_means_the_same_when_a_terminal_would_obey_it(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": "\u202e\x1b[2J", "zone": "Zürich"}

    print_json(value)

    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert "\u202e" not in out
    assert "Zürich" in out


@pytest.mark.parametrize("as_json", [False, True], ids=["for people", "as JSON"])
@pytest.mark.parametrize(
    ("findings", "unusable", "code"),
    [([], False, 0), ([WARNING], False, 0), ([WARNING, ERROR], False, 1), ([ERROR], True, 2)],
    ids=["nothing", "a warning", "an error", "an error of what cannot be used"],
)
def test_findings_decide_the_exit_code(findings: list[Diagnostic], code: int, *, unusable: bool, as_json: bool) -> None:
    @click.command()
    def command() -> None:
        exit_with_findings(findings, as_json=as_json, unusable=unusable)

    result = CliRunner().invoke(command)

    assert result.exit_code == code
    if as_json:
        assert json.loads(result.stdout) == [each.to_dict() for each in findings]
    else:
        assert result.stderr.splitlines() == [str(each) for each in findings]


def test_a_strict_check_takes_warnings_for_errors_and_leaves_notices() -> None:
    notice = Diagnostic("notice", "salt", "is new")

    assert [each.level for each in as_errors([WARNING, ERROR, notice])] == ["error", "error", "notice"]


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("counting", 3) as advance:
        advance(3)

    assert capsys.readouterr() == ("", "")
