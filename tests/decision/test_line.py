"""Schedule lines: an expression and its modifiers in any order, and the position of every mistake."""

from contextlib import suppress
from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from kron import Timing
from kron.decision.line import MODIFIERS, parse_line, quote, split_outside_quotes, unquote
from kron.errors import InvalidCronExpressionError, InvalidDefinitionError, KronError
from tests.decision.strategies import texts

FIELDS = "0 0 * * *"
PARTS = ["@tz(Europe/Paris)", "@win(after,2h)", "@dist(skewLate,shape=2.5)", "@seed(daily,salt=prod)"]


def timing(line: str) -> Timing:
    return Timing.parse(line, identity="test/job")


def refusal(line: str) -> InvalidDefinitionError:
    with pytest.raises(InvalidDefinitionError) as caught:
        timing(line)
    return caught.value


# --- taking a line apart ----------------------------------------------------------------------------------------------


def test_a_line_is_an_expression_and_its_modifiers() -> None:
    line = parse_line("0 3 * * 1-5 @tz(Europe/Paris) @win(after,2h)")

    assert line.expression == "0 3 * * 1-5"
    assert {name: modifier.arguments for name, modifier in line.modifiers.items()} == {
        "tz": "Europe/Paris",
        "win": "after,2h",
    }


@pytest.mark.parametrize("macro", ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"])
def test_a_macro_may_carry_modifiers(macro: str) -> None:
    line = parse_line(f"{macro} @win(after,10m)")

    assert (line.expression, list(line.modifiers)) == (macro, ["win"])


@pytest.mark.parametrize(
    "text", ["  0 0 * * *  @win(after,2h)  ", "0\t0 * * *\t@win(after,2h)\t", "0 0 * * * @win( after , 2h )"]
)
def test_blanks_between_the_parts_do_not_matter(text: str) -> None:
    assert timing(text) == timing("0 0 * * * @win(after,2h)")


def test_a_tab_may_follow_a_macro() -> None:
    assert timing("@daily\t@win(after,2h)") == timing("@daily @win(after,2h)")


@pytest.mark.parametrize("parts", list(permutations(PARTS)), ids=lambda parts: " ".join(part[1:4] for part in parts))
def test_the_order_of_the_modifiers_is_free(parts: tuple[str, ...]) -> None:
    assert timing(" ".join([FIELDS, *parts])) == timing(" ".join([FIELDS, *PARTS]))


def test_a_line_without_modifiers_has_the_defaults() -> None:
    plain = timing(FIELDS)

    assert plain == timing(
        f"{FIELDS} @tz(UTC) @dst(gap=skip,repeated=both) @win(after,0s) @dist(uniform) @seed(stable)"
    )


def test_the_clocks_changes_are_a_modifier_too() -> None:
    schedule = timing(f"{FIELDS} @dst(repeated=first,gap=shift)").schedule

    assert (schedule.gap.value, schedule.repeated.value) == ("shift", "first")


def test_a_policy_belongs_to_the_line_and_moves_no_second() -> None:
    assert timing(f"{FIELDS} @policy(concurrency=allow,deadline=10m)") == timing(FIELDS)


# --- mistakes in the form ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["window", "timezone", "WIN", "wín", "", "wi-n", "every", "win2"])
def test_an_unknown_modifier_is_refused_with_the_known_ones(name: str) -> None:
    error = refusal(f"{FIELDS} @tz(UTC) @{name}(after,2h)")

    assert error.field == "modifier"
    assert error.found == f"@{name}"
    assert error.reason == "must be one of " + ", ".join(f"@{known}" for known in MODIFIERS)
    assert error.position == len(f"{FIELDS} @tz(UTC) ")


@pytest.mark.parametrize(("name", "meant"), [("WIN", "@win"), ("avoids", "@avoid"), ("dists", "@dist")])
def test_a_modifier_that_is_nearly_right_is_answered_with_the_right_one(name: str, meant: str) -> None:
    assert refusal(f"{FIELDS} @{name}(x)").fix == f"did you mean {meant}?"


@pytest.mark.parametrize("name", MODIFIERS)
def test_a_repeated_modifier_is_refused_at_its_second_position(name: str) -> None:
    words = {"tz": "UTC", "win": "after,1s", "dist": "uniform", "seed": "stable", "dst": "gap=skip"}
    part = f"@{name}({words.get(name, 'hours=9')})"

    error = refusal(f"{FIELDS} {part} {part}")

    assert (error.found, error.reason) == (f"@{name}", "is there twice")
    assert error.position == len(f"{FIELDS} {part} ")


@pytest.mark.parametrize(
    ("rest", "reason", "offset"),
    [
        ("@win", "needs its arguments in parentheses", 4),
        ("@win after,2h", "needs its arguments in parentheses", 4),
        ("@win (after,2h)", "needs its arguments in parentheses", 4),
        ("@win(after,2h", "has no closing parenthesis", 4),
        ("@win(after,2h @tz(UTC)", "has a parenthesis inside parentheses", 17),
        ("@win((after,2h))", "has a parenthesis inside parentheses", 5),
        ("@win(after,2h))", "must be followed by a blank", 14),
        ("@win(after,2h)@tz(UTC)", "must be followed by a blank", 14),
        ("@win(after,2h),", "must be followed by a blank", 14),
        ('@seed(stable,salt="x)', "has an opening quote without a closing one", 18),
        ('@seed(stable,salt="x\\")', "has an opening quote without a closing one", 18),
        ("@win(after,2h) name=x", "does not belong in a schedule line", 15),
        ("@win(after,2h) 5", "does not belong in a schedule line", 15),
    ],
)
def test_a_form_that_is_not_right_is_refused_at_its_place(rest: str, reason: str, offset: int) -> None:
    error = refusal(f"{FIELDS} {rest}")

    assert error.reason == reason
    assert error.position == len(FIELDS) + 1 + offset


@pytest.mark.parametrize("rest", ["\n", "\u00a0", "\x0b"], ids=ascii)
def test_a_line_that_ends_in_another_kind_of_blank_is_refused(rest: str) -> None:
    assert refusal(f"{FIELDS} @win(after,2h) {rest}").reason == "does not belong in a schedule line"


@pytest.mark.parametrize(
    "line", ["", "   ", "@win(after,2h)", "0 0 * *", "0 0 * * * *", "0 0 * * * foo @win(after,2h)"]
)
def test_an_error_in_the_expression_is_the_expressions_own_error(line: str) -> None:
    with pytest.raises(InvalidCronExpressionError):
        timing(line)


@pytest.mark.parametrize("given", [None, 5, True, ["0 0 * * *"], b"0 0 * * *"], ids=str)
def test_a_line_must_be_a_text(given: object) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        parse_line(given)  # type: ignore[arg-type] # on purpose

    assert caught.value.reason == "must be a text"


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "@" * 1_000_000,
        "@win(" * 200_000,
        '"' * 1_000_001,
        "0 " * 500_000,
        f"{FIELDS} @seed(s,salt=" + "(" * 10**6,
    ],
    ids=["letters", "at signs", "modifiers", "quotes", "fields", "parentheses"],
)
def test_a_megabyte_of_text_is_refused_at_once_and_not_repeated(text: str) -> None:
    error = refusal(text)

    assert error.reason.startswith("must have at most 65536 characters")
    assert len(str(error)) < 500


@pytest.mark.parametrize("piece", ["@win(", '@seed(stable,salt="', "(", '"', "@", "\\", "@tz(UTC) ", "0 ", ",", "\t"])
def test_a_line_of_the_greatest_length_is_answered(piece: str) -> None:
    line = (f"{FIELDS} @seed(stable,salt=" + piece * 65_536)[:65_536]

    with pytest.raises(KronError):
        timing(line)


@given(st.text(alphabet=' \t\n\u00a0@()",;=\\*0aéwintzseedonly', max_size=60))
def test_any_text_is_a_timing_or_an_error_of_krons_own(text: str) -> None:
    with suppress(KronError):
        assert timing(f"{FIELDS} @{text}").identity == "test/job"


# --- positions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "modifier",
    [
        *("@tz(Europe/Pari)", "@win(aftr,2h)", "@win(after,2)", "@dist(gauss)", "@dist(skewLate,shape=x)"),
        *("@only(dow=FRI-MON)", "@avoid(date=today)", "@dst(gaps=skip)", "@dst()"),
    ],
)
def test_an_error_inside_a_modifier_points_at_the_modifier(modifier: str) -> None:
    assert refusal(f"{FIELDS} @policy(deadline=1s) {modifier}").position == len(f"{FIELDS} @policy(deadline=1s) ")


@pytest.mark.parametrize(
    "modifier", ["@seed(dialy)", "@seed(stable,salt=a,salt=b)", "@seed(stable,pepper=x)", "@dst(gap=jump)"]
)
def test_an_error_in_a_seed_or_a_clock_change_points_at_the_modifier(modifier: str) -> None:
    assert refusal(f"{FIELDS} @tz(UTC) {modifier}").position == len(f"{FIELDS} @tz(UTC) ")


# --- quotes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("plain", "plain"),
        ('"a b"', "a b"),
        ('""', ""),
        ('"a\\"b"', 'a"b'),
        ('"a\\\\"', "a\\"),
        ('"(,;=)"', "(,;=)"),
    ],
)
def test_a_quoted_word_stands_for_its_inside(word: str, text: str) -> None:
    assert unquote(word) == text


@given(texts)
def test_every_text_survives_quoting(text: str) -> None:
    assert unquote(quote(text)) == text


@given(st.lists(texts, min_size=1, max_size=4))
def test_quoted_texts_survive_being_listed(given: list[str]) -> None:
    listed = ",".join(quote(text) for text in given)

    assert [unquote(word) for word in split_outside_quotes(listed, ",")] == given


@pytest.mark.parametrize(
    "salt", ["a b", "a,b", "a;b", "a=b", "a)b", "(", '"', "\\", "ümläut", "日本", "a#b", "@win(x)"]
)
def test_a_quoted_salt_may_hold_what_separates(salt: str) -> None:
    assert timing(f"{FIELDS} @seed(daily,salt={quote(salt)}) @tz(UTC)").seed.salt == salt


@pytest.mark.parametrize("salt", ['"a"b', 'a"b"', '"a""b"', '"a"x"b"'])
def test_quotes_hold_a_whole_value_or_are_refused(salt: str) -> None:
    assert refusal(f"{FIELDS} @seed(daily,salt={salt})").position == len(FIELDS) + 1
