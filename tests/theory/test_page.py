"""The page on the theory: its tables are generated from the code, and its traces are recorded."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kron.theory import properties as formulas
from kron.theory.alphabet import EVENTS
from kron.theory.formula import Atom, Formula, Named, TruthValue, definitions
from kron.theory.properties import SUITES, Property, at_most_one, hold, hold_inclusive
from tests.theory.example_traces import FOLDER, STORIES
from tests.theory.repairs import DEFECTS, DILEMMAS, IN_WORDS, Defect, word
from tests.theory.semantics import meaning, violated_at

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"
COMBINATORS = {
    "Hold(set, clear)": hold(Atom("set"), Atom("clear")),
    "Hold⁺(set, clear)": hold_inclusive(Atom("set"), Atom("clear")),
    "AtMostOne(window, event)": at_most_one(Atom("window"), Atom("event")),
}
MEANING = {
    "Hold(set, clear)": "set came, now or earlier, and no clear since; if both come together, clear wins",
    "Hold⁺(set, clear)": "the same, but set wins",
    "AtMostOne(window, event)": "between two openings of the window at most one event",
    "RE": "a run ends",
    "Registered": "the last accepted list names the task",
    "FirstComing": "it does, and the list before did not",
    "Active": "a list was accepted, and neither stop nor crash has ended it",
    "Running": "a run is in flight",
    "Orphaned": "a crash cuts a run off",
    "RSucc": "a start whose run will succeed",
    "Frozen": "nothing can be done: between Freeze and Thaw, or at a crash without an action at its position",
    "Served": "what takes demands away: a start, or being added again",
    "DuePending": "a due instant has passed that no start has served",
    "RetryPending": "the delay after the last failure has passed, and no start came since",
    "OrphanedPending": "a run was cut off and not restarted",
    "BootPending": "the task came inside a minute of its schedule, which is not served yet",
    "Pending": "one start would serve something",
    "Obligation": "and the scheduler has to start it now",
    "OrphanObligation": "the same, of runs cut off alone",
    "Window": "a new occasion to succeed",
    "Demand": "a new reason to start",
    "Closed": "a period is over without a run",
    "Paused": "the job is suspended",
    "Impossible": "the last decision found no time",
    "Stopping": "a call has begun and not ended",
    "Started": "a run has begun and not ended, crashes aside",
}

# --- what is written --------------------------------------------------------------------------------------------------


def events() -> Iterator[str]:
    yield from ("| event | atom | owner | action | fields |", "|---|---|---|---|---|")
    for name, kind in EVENTS.items():
        fields = ", ".join([*(f"`{field}`" for field in kind.required), *(f"`{field}`?" for field in kind.optional)])
        action = "yes" if kind.is_action else ""
        yield f"| `{name}` | `{kind.atom}` | {kind.owner.value} | {action} | {fields} |"


def macro_table() -> Iterator[str]:
    yield from ("| macro | formula | meaning |", "|---|---|---|")
    bodies = {**COMBINATORS, **{macro.name: macro.body for macro in named_macros()}}
    yield from (f"| `{name}` | `{body}` | {MEANING[name]} |" for name, body in bodies.items())


def named_macros() -> list[Named]:
    return [value for value in vars(formulas).values() if isinstance(value, Named)]


def properties() -> Iterator[str]:
    printed: dict[tuple[str, str], str] = {}
    for contract, suite in SUITES.items():
        yield from (f"### The contract `{contract}`", "")
        new = [each for each in suite.properties if (each.name, str(each.formula)) not in printed]
        printed |= {(each.name, str(each.formula)): contract for each in new}
        known = ", ".join(each.name for each in suite.properties if each not in new)
        if new:
            yield from ("| | in words | formula | judged for | to blame |", "|---|---|---|---|---|")
            yield from map(_property_row, new)
            yield ""
        if known:
            scopes = " and ".join(sorted({each.scope.value for each in suite.properties if each not in new}))
            yield from (f"And {known} as above, judged for {scopes}.", "")
        if not suite.properties:
            yield from ("Nothing is asked of a trace.", "")


def _property_row(each: Property) -> str:
    blame = each.blame.value if each.blame is not None else "the owner of the event"
    star = "*" if each.is_always_open else ""
    return f"| {each.name}{star} | {each.sentence} | `{each.formula}` | {each.scope.value} | {blame} |"


def literal() -> Iterator[str]:
    for defect in DEFECTS:
        yield from (f"**{defect.name}.** {defect.why}", "", "```text")
        yield f"on         {defect.witness}"
        yield f"literal    {_verdict(defect.literal, defect)}"
        yield from _shown(defect.literal, defect)
        yield f"repaired   {_verdict(defect.repaired, defect)}"
        yield from _shown(defect.repaired, defect)
        yield from ("```", "")
    yield from ("Three beginnings after which the documents leave no way to go on:", "")
    for dilemma in DILEMMAS:
        ways = "; ".join(
            f"{way.how}, `{way.word}`: `{way.formula}` is "
            + ("violated" if way.says is TruthValue.VIOLATED else "never fulfilled")
            for way in dilemma.ways
        )
        yield f"* **{dilemma.name}.** {dilemma.why} After `{dilemma.beginning}`: {ways}."
    yield from ("", "And what no word shows:", "")
    yield from (f"* **{name}.** {text}" for name, text in IN_WORDS.items())


def _verdict(formula: Formula, defect: Defect) -> str:
    found, at = meaning(formula, word(defect.witness)), violated_at(formula, word(defect.witness))
    return f"{found.value}{'' if at is None else f' at {at}'}: {formula}"


def _shown(formula: Formula, defect: Defect) -> Iterator[str]:
    bodies = definitions(formula)
    return (f"           {name} := {bodies[name]}" for name in defect.shown if name in bodies)


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "events": events,
    "macros": macro_table,
    "properties": properties,
    "literal formulas": literal,
}


def page() -> str:
    """Return the page with all its written parts as they should be."""
    text = PAGE.read_text("utf-8")
    for name, part in PARTS.items():
        begin, end = f"<!-- {name}: written by `python -m tests.theory.test_page` -->\n", f"<!-- end of {name} -->"
        before, after = text[: text.index(begin) + len(begin)], text[text.index(end) :]
        text = before + "\n" + "\n".join(part()).strip() + "\n\n" + after
    return text


# --- what is checked --------------------------------------------------------------------------------------------------


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "update it: python -m tests.theory.test_page"


@pytest.mark.parametrize("macro", named_macros(), ids=str)
def test_every_macro_has_a_meaning_in_words(macro: Named) -> None:
    assert macro.name in MEANING


def test_no_macro_is_explained_that_is_gone() -> None:
    assert set(MEANING) == {*COMBINATORS, *(macro.name for macro in named_macros())}


@pytest.mark.parametrize("atom", [value for value in vars(formulas).values() if isinstance(value, Atom)], ids=str)
def test_the_page_names_every_atom(atom: Atom) -> None:
    assert f"`{atom}`" in PAGE.read_text("utf-8")


@pytest.mark.parametrize(
    "field", sorted({field for kind in EVENTS.values() for field in kind.required + kind.optional})
)
def test_the_page_explains_every_field(field: str) -> None:
    _, fields = PAGE.read_text("utf-8").split("## The trace", 1)

    assert f"| `{field}`" in fields or f", `{field}`" in fields


@pytest.mark.parametrize("name", STORIES)
def test_a_trace_of_the_page_is_the_one_that_a_scheduler_leaves(name: str) -> None:
    trace = asyncio.run(STORIES[name]())

    assert (FOLDER / f"{name}.jsonl").read_text("utf-8") == trace, "write it: python -m tests.theory.example_traces"


@pytest.mark.parametrize("name", STORIES)
def test_the_page_shows_a_trace_whole_and_what_is_said_of_it(name: str) -> None:
    text = PAGE.read_text("utf-8")

    assert f"```json\n{(FOLDER / f'{name}.jsonl').read_text('utf-8')}```" in text
    assert f"$ kron verify examples/traces/{name}.jsonl" in text


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
