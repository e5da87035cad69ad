"""DEFECTS and DILEMMAS: formulas of the documents beside the repaired ones, each with a word that distinguishes them.

A word is written like a trace: its positions one after the other, atoms at one position joined by `&`, `–` for none,
and after `@` the second; without one a position comes a millisecond after the one before. `I` is `IS IEs&Listed`.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kron.theory.formula import TRUE, Always, Atom, Formula, Letter, Named, Next, Once, Since, TruthValue, WeakUntil
from kron.theory.properties import (
    E3,
    L1,
    L3,
    P10,
    P11,
    P12,
    RETRY_DUE,
    RUN_FAILURE,
    RUN_START,
    S1,
    S2,
    S3,
    S6,
    T2,
    T3,
    T4,
    at_most_one,
    hold,
)
from tests.theory import originals
from tests.theory.semantics import Word

HOLDS, VIOLATED, UNDECIDED = TruthValue.HOLDS, TruthValue.VIOLATED, TruthValue.UNDECIDED
BOUND = 60_000
_THEORY, _NEW = originals.theory(), originals.theory("′")
_SET, _CLEAR, _A, _B = Atom("set"), Atom("clear"), Atom("A"), Atom("B")


def word(text: str) -> Word:
    """Return the word that a text writes, with a bound of one minute."""
    letters: list[Letter] = []
    times: list[int] = []
    t = 0
    for place in text.split():
        atoms, _, second = place.partition("@")
        t = round(float(second) * 1000) if second else t + 1
        for part in ["IS", "IEs&Listed"] if atoms == "I" else [atoms]:
            letters.append(frozenset(part.split("&")) - {"–"})
            times.append(t)
    return Word(letters, times, BOUND)


@dataclass(frozen=True, slots=True)
class Defect:
    """A formula that says something else than its sentence, and a word on which that is seen."""

    name: str
    why: str
    witness: str
    literal: Formula
    says: TruthValue
    repaired: Formula
    should: TruthValue
    shown: tuple[str, ...] = ()  # the abbreviations in which they differ


DEFECTS = (
    Defect(
        "M1, Hold",
        "Clear is meant to win when both come together. It is asked about now alone: at the next, set is back.",
        "set&clear –",
        Always(~Named("Hold", originals.hold(_SET, _CLEAR))), VIOLATED,
        Always(~Named("Hold", hold(_SET, _CLEAR))), HOLDS, ("Hold",),
    ),
    Defect(
        "M3, RetryDue",
        "Any failure whose delay has passed calls for a retry, even if a later start has made up for it.",
        "I Due RS REf Due RS REs RetryDue",
        Always(RETRY_DUE >> Once(RUN_FAILURE)), HOLDS,
        Always(RETRY_DUE >> Since(~RUN_START, RUN_FAILURE)), VIOLATED,
    ),
    Defect(
        "M4, E3",
        "Only actions must not share a position, so Due may share that of a start, which then does not serve it.",
        "I Due RS&Due&Action REs",
        Always(RUN_START >> ~originals.ACTIONS), HOLDS,
        E3.formula, VIOLATED,
    ),
    Defect(
        "M5, Orphaned",
        "A crash does not end what it interrupts: a later crash interrupts it again, even if the task was "
        "removed in between and was added again.",
        "I Due RS Crash IS IEs SS SE I Crash I RS",
        _THEORY.s1, HOLDS, S1.formula, VIOLATED, ("Orphaned",),
    ),
    Defect(
        "M6, Active",
        "A stop that begins before the first list is accepted does not end its activity, neither by beginning "
        "nor by returning: Theorem 3 is broken, though every start obeys S1.",
        "IS SS IEs&Listed&Overtaken SE Due RS",
        _THEORY.s1, HOLDS, S1.formula, VIOLATED, ("Active",),
    ),
    Defect(
        "M7, E1 and E2",
        "Frozen and Unfrozen speak of some interval around an instant, and both may be true: E1 and E2 do not "
        "forbid what Theorem 4 says they do.",
        "Crash&RS&Action&Frozen&Unfrozen",
        originals.E1_E2, HOLDS, T4.formula, VIOLATED,
    ),
    Defect(
        "M9, Pending",
        "A task that first comes inside a minute of its schedule owes a run. The formula sees the Due before the "
        "list, and forgets it.",
        "Due IS IEs&Listed&Boot RS",
        _THEORY.s1, VIOLATED, S1.formula, HOLDS, ("Pending",),
    ),
    Defect(
        "M11, AtMostOne",
        "X must be weak where traces end: with a strong one an event at the last position is never settled.",
        "B A",
        Always(_A >> ~Next(~WeakUntil(~_A, _B))), UNDECIDED,
        at_most_one(_B, _A), HOLDS,
    ),
    Defect(
        "M13, tasks as tuples",
        "A changed schedule makes another tuple (′), whose past dues are not served: it runs at once, in a "
        "minute that was served already.",
        "I Due&Due′ RS REs SS SE IS IEs&Listed&Listed′&Changed RS&RS′",
        _NEW.s1, HOLDS, S1.formula, VIOLATED, ("DuePending",),
    ),
    Defect(
        "M13, tasks as tuples",
        "For the same reason the new tuple may run beside the old one.",
        "RS RS&RS′",
        _NEW.t2, HOLDS, T2.formula, VIOLATED, ("Running",),
    ),
    Defect(
        "M14, S6",
        "A valid list may never be refused, not even while another one is active or when the disk fails.",
        "IS IEs&Listed&Valid IS IEf&Valid&Excused",
        originals.S6, VIOLATED, S6.formula, HOLDS,
    ),
    Defect(
        "M15, L3",
        "The stop of a list has to return while that list is current: never, if another (Q) succeeds meanwhile.",
        "IEs_R SS&Begin&Quiet IEs_Q&Quiet SE&Return",
        originals.L3, UNDECIDED, L3.formula, HOLDS, ("Registered_R",),
    ),
    Defect(
        "M15, L3",
        "And where nothing is registered a stop need not return at all.",
        "SS&Begin&Quiet@0 Quiet@300",
        originals.L3, HOLDS, L3.formula, VIOLATED, ("Stopping",),
    ),
    Defect(
        "P2", "Between two starts there must be an end, so a run that a crash cut off can never be restarted.",
        "I Due RS Crash I RS REs", originals.P2, VIOLATED, T2.formula, HOLDS,
    ),
    Defect(
        "P3", "A start must fall on its due instant: no lag, no retry, no making up.",
        "I Due RS", originals.P3, VIOLATED, S1.formula, HOLDS, ("RetryGate",),
    ),
    Defect(
        "P3", "And a crash does not end an initialisation.",
        "I Due Crash RS&Due", originals.P3, HOLDS, S1.formula, VIOLATED, ("Initialised",),
    ),
    Defect(
        "P4", "The start at the next due instant itself is counted among those before it.",
        "I Due SS SE I RS REs RS&Due REs", originals.P4, VIOLATED, S2.formula, HOLDS,
    ),
    Defect(
        "P4", "And the run that makes up for lost time must not be retried.",
        "I Due SS SE I RS REf RetryDue RS REs", originals.P4, VIOLATED, S2.formula, HOLDS,
    ),
    Defect(
        "P5", "Starts after a stop are forbidden only if there is a later initialisation.",
        "I SS SE Due RS", originals.P5, HOLDS, T3.formula, VIOLATED,
    ),
    Defect(
        "P5", "And then they are forbidden up to the last one, not up to the next.",
        "I SS SE I Due RS REs I", originals.P5, VIOLATED, T3.formula, HOLDS,
    ),
    Defect(
        "P9", "Only starts after the stop began are asked to end, and those are forbidden anyway.",
        "I Due RS SS SE REs", originals.P9, HOLDS, S3.formula, VIOLATED,
    ),
    Defect(
        "P10", "The formula demands that a user initialises again.",
        "I Due RS Crash", originals.P10, UNDECIDED, P10.formula, HOLDS,
    ),
    Defect(
        "P10", "And of many initialisations any one will do, so that no trace can violate it.",
        "I Due RS Crash I@100 –@300", originals.P10, UNDECIDED, P10.formula, VIOLATED,
    ),
    Defect(
        "P11", "Two different instants are more than nothing apart: the formula is true of all traces.",
        "I Due RetryDue RS REs RS", TRUE, HOLDS, P11.formula, VIOLATED,
    ),
    Defect(
        "P12", "The interval is open, so a start on the due instant itself is not counted.",
        "I RS&Due REs RS REs Due", originals.P12, HOLDS, P12.formula, VIOLATED, ("Calm",),
    ),
    Defect(
        "P12", "And a restart after a crash is.",
        "I Due RS Crash I RS REs Due", originals.P12, VIOLATED, P12.formula, HOLDS, ("Calm",),
    ),
    Defect(
        "P13", "A due instant must be followed by a start even while the task runs, which P2 forbids. (A variable is "
        "free in it, too; here it is bound in the way that makes sense.)",
        "I Due@60 RS Due@120 REs@200 RS REs", originals.P13, VIOLATED, L1.formula, HOLDS, ("Obligation",),
    ),
    Defect(
        "P16", "The until is strong: after a stop a user has to initialise again.",
        "I SS SE", originals.P16, UNDECIDED, T3.formula, HOLDS,
    ),
)  # fmt: skip


class Way(NamedTuple):
    """What may come next, and what the documents say about it."""

    how: str
    word: str
    formula: Formula
    says: TruthValue


@dataclass(frozen=True, slots=True)
class Dilemma:
    """A beginning that the documents allow, after which they allow nothing: every way on is wrong."""

    name: str
    why: str
    beginning: str
    ways: tuple[Way, ...]


DILEMMAS = (
    Dilemma(
        "M3", "A retry that comes too late to matter is owed by L1 and forbidden by S2.",
        "I Due RS REf Due RS REs RetryDue",
        (Way("it starts", "RS REs", _THEORY.s2, VIOLATED), Way("it waits", "–@200", _THEORY.l1, VIOLATED)),
    ),
    Dilemma(
        "M4", "A Due at the position of a start is not served by it, and opens no window of its own.",
        "I Due RS&Due REs",
        (Way("it starts", "RS REs", _THEORY.s2, VIOLATED), Way("it waits", "–@200", _THEORY.l1, VIOLATED)),
    ),
    Dilemma(
        "M22", "P2, P10 and P14 together leave no way to go on after a crash.",
        "I Due RS Crash I",
        (
            Way("it starts", "RS", originals.P2, VIOLATED), Way("it ends first", "REs RS", originals.P14, VIOLATED),
            Way("it waits", "–@200", originals.P10, UNDECIDED),
        ),
    ),
)  # fmt: skip

IN_WORDS = {
    "M16": "The constants a, b and lag may be chosen after the fact: then nothing violates L1 and L2. Here they stand "
    "in the header, before the first event.",
    "M17": "L1 wants the start to come even if no compute is ever granted again. Here frozen time does not count, and "
    "at a closed end nothing is owed.",
    "M18": "The length of an interval counts its instants, one too many. A millisecond in a minute: left as it is.",
    "P15, P17": "They speak of what recurs for ever, and P17 forbids stopping the scheduler. No word is a witness; "
    "each single due instant is judged by P13.",
    "lag": "There is some Δ within which starts come: true of every trace. P13 with a fixed bound takes its place.",
}
