"""One clear error for each mistake: never a traceback, never a hang, nothing on standard output."""

import pytest

from tests.cli.kron_runner import kron, kron_process

MISTAKES = {
    "empty text": "",
    "only blanks": "   ",
    "four fields": "* * * *",
    "six fields": "0 * * * * *",
    "value out of range": "60 * * * *",
    "open range": "1- * * * *",
    "wrapped range": "5-1 * * * *",
    "sign": "+1 * * * *",
    "scientific notation": "1e1 * * * *",
    "non-ASCII digit": "٣ * * * *",
    "line break": "0 0 * * *\n",
    "never matching": "0 0 30 2 *",
    "unknown zone": "0 0 * * * @tz(Mars/Phobos)",
    "unknown modifier": "0 0 * * * @jitter(2h)",
    "modifier twice": "0 0 * * * @tz(UTC) @tz(UTC)",
    "unclosed parenthesis": "0 0 * * * @win(after,2h",
    "unopened parenthesis": "0 0 * * * @win after,2h)",
    "nested parenthesis": "0 0 * * * @win((after,2h)",
    "not a number": "0 0 * * * @win(after,1h) @dist(skewLate,shape=NaN)",
    "infinite": "0 0 * * * @win(after,1h) @dist(skewLate,shape=inf)",
    "negative parameter": "0 0 * * * @win(after,1h) @dist(exponential,lambda=-1)",
    "negative window": "0 0 * * * @win(after,-1h)",
    "window without unit": "0 0 * * * @win(after,60)",
    "unknown distribution": "0 0 * * * @dist(gaussian)",
    "unknown parameter": "0 0 * * * @dist(uniform,shape=2)",
    "parameter twice": "0 0 * * * @dist(skewLate,shape=2,shape=3)",
    "unknown strategy": "0 0 * * * @seed(hourly)",
    "unknown policy": "0 0 * * * @policy(concurrency=queue)",
    "unknown clause": "0 0 * * * @only(weather=sunny)",
    "clause that starts after it ends": "0 0 * * * @only(between=22:00-06:00)",
    "impossible date": "0 0 * * * @avoid(date=2026-02-30)",
    "text behind the modifiers": "0 0 * * * @tz(UTC) tomorrow",
    "a megabyte": "0," * 524_288 + "0 * * * *",
    "a megabyte of modifiers": "0 0 * * * " + "@win(after,1h) " * 70_000,
}


@pytest.mark.parametrize("command", ["next", "explain", "describe"])
@pytest.mark.parametrize("line", MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_gets_one_clear_error(command: str, line: str) -> None:
    answer = kron(command, line)

    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("kron: error: ")
    assert answer.err.count("error:") == 1
    assert len(answer.err) < 1000


@pytest.mark.parametrize("line", MISTAKES.values(), ids=MISTAKES.keys())
def test_lint_finds_the_mistake(line: str) -> None:
    answer = kron("lint", line)

    assert answer.code == 1
    assert answer.err.startswith("<line>:1: error: ")


def test_the_caret_is_under_the_offending_character() -> None:
    answer = kron("next", "0 0 * * 1-5,MON-FUN")

    text, caret = answer.err.splitlines()[1:3]
    assert text[caret.index("^") :] == "FUN"


def test_a_real_process_exits_with_2_and_no_traceback() -> None:
    answer = kron_process("next", "60 * * * *")

    assert answer.code == 2
    assert "Traceback" not in answer.err
    assert answer.err.splitlines()[0] == (
        'kron: error: schedule: minute field value 60 is outside 0-59 in "60 * * * *"; write a number from 0 to 59'
    )
