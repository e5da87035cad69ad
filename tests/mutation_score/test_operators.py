"""Tests of the mutation operators: which bugs are put into a module, their text and their names."""

import pytest

from tests.mutation_score.operators import mutants_of


def bugs(text: str) -> list[str]:
    """Return the text with each bug."""
    return [mutant.applied(text) for mutant in mutants_of("m", text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", ["x = (a <= b)"]),
        ("x = a == b", ["x = (a != b)"]),
        ("x = a is b", ["x = (a is not b)"]),
        ("x = a in b", ["x = (a not in b)"]),
        ("x = a < b < c", ["x = (a <= b < c)", "x = (a < b <= c)"]),
        ("x = a and b", ["x = (a or b)"]),
        ("x = not a", ["x = (a)"]),
        ("x = -a", ["x = (a)"]),
        ("x = a + b", ["x = (a - b)"]),
        ("x = a // b", ["x = (a * b)"]),
        ("x = a & b", ["x = (a | b)"]),
        ("x = a << b", ["x = (a >> b)"]),
        ("x = 1", ["x = (2)"]),
        ("x = True", ["x = (False)"]),
        ("x = min(a)", ["x = (max)(a)"]),
        ("x = any(a)", ["x = (all)(a)"]),
        ("x = a if b else c", ["x = a if (not b) else c"]),
        ("f(a)", ["pass"]),
        ("x += a", ["pass"]),
        ("def f(): return a", ["def f(): return (None)"]),
        ("def f(a=1): pass", ["def f(a=(2)): pass"]),
        ("while a: break", ["while (not a): break", "while a: continue"]),
    ],
)
def test_a_bug_changes_one_thing(text: str, expected: list[str]) -> None:
    assert sorted(bugs(text)) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring."""',
        "x: int = a",
        "x: int | None",
        "X: TypeAlias = Wait | Close",
        "def f(x: int | None) -> int | None: ...",
        "@dataclass(frozen=True)\nclass A: ...",
        "__slots__ = ('a', 1)",
        "assert a < b",
        "def f(): return None",
        'x = f"{a + b}"',
        'x = a + "text"',
        "x = Wait | Close",
    ],
)
def test_lines_that_are_not_executed_or_always_fail_have_no_bugs(text: str) -> None:
    assert bugs(text) == []


def test_a_pattern_has_no_bugs_and_its_guard_has() -> None:
    text = "match a:\n    case 1 if b > 2:\n        pass\n"

    assert [mutant.name for mutant in mutants_of("m", text)] == ["m: b > 2 -> b >= 2", "m: 2 -> 3"]


def test_characters_of_several_bytes_before_a_bug_do_not_move_it() -> None:
    assert bugs('x = ("ü日", 1)') == ['x = ("ü日", (2))']


def test_a_bug_is_named_by_its_place_in_the_code_and_not_by_its_line() -> None:
    text = "class A:\n    def f(self):\n        return self.a < 1\n"

    names = [mutant.name for mutant in mutants_of("m", text)]

    assert "m.A.f: self.a < 1 -> self.a <= 1" in names
    assert names == [mutant.name for mutant in mutants_of("m", f"\n\n{text}")]


def test_equal_bugs_of_one_function_are_numbered() -> None:
    assert [mutant.name for mutant in mutants_of("m", "x = 1\ny = 1\n")] == ["m: 1 -> 2", "m: 1 -> 2 (2)"]


def test_a_bug_in_a_condition_belongs_to_the_lines_of_the_condition() -> None:
    text = "if (\n    a\n    and b\n):\n    f()\n"

    assert {mutant.name: mutant.lines for mutant in mutants_of("m", text)} == {
        "m: a and b -> a or b": (1, 2, 3, 4),
        "m: f() -> pass": (5,),
    }
