"""explain(property, subject, …) -> why it is violated, in a sentence, and the lines that say so."""

from kron.theory.formula import Formula
from kron.theory.jury import Jury
from kron.theory.macros import (
    ACTIVE,
    BOOT_PENDING,
    DUE_PENDING,
    ORPHANED_PENDING,
    REGISTERED,
    RETRY_PENDING,
    RUNNING,
)
from kron.theory.properties import P3, S1, Property
from kron.theory.subjects import Subject

SHOWN: tuple[Formula, ...] = (
    ACTIVE, REGISTERED, RUNNING, DUE_PENDING, RETRY_PENDING, ORPHANED_PENDING, BOOT_PENDING,
)  # fmt: skip
_DEMANDS = (DUE_PENDING, RETRY_PENDING, ORPHANED_PENDING, BOOT_PENDING)
_SLICE = 6  # lines that an explanation names


def explain(each: Property, subject: Subject, jury: Jury, line: int) -> tuple[str, tuple[int, ...]]:
    """Return the explanation, and the numbers of the lines it rests on, the last one that of the violation."""
    past = sorted((number, event) for event, number in subject.past().items() if number < line)[-_SLICE:]
    lines = (*(number for number, _ in past), line)
    whom = f"{subject.name}: " if subject.name else ""
    story = ", ".join(f"{event} at {number}" for number, event in past)
    before = f" (before: {story})" if story else ""
    debt = subject.debts[jury.timed.index(each)] if each in jury.timed else None
    if debt is not None:
        return f"{whom}owed since {debt.line}, not there at {line}{before}", lines
    if each in (S1, P3):
        return f"{whom}a start at {line}, but {_why_not(jury, subject)}{before}", lines
    if remark := subject.remark(each.name):
        return f"{whom}{remark}, at {line}{before}", lines
    return f"{whom}not so at {line}: {each.sentence}{before}", lines


def _why_not(jury: Jury, task: Subject) -> str:
    """Return which part of an obligation was missing just before."""
    before = task.stand.before
    if not jury.shows(before, REGISTERED):
        return "the current list does not name it"
    if not jury.shows(before, ACTIVE):
        return "no list is active"
    if jury.shows(before, RUNNING):
        return "it is still running"
    assert not any(jury.shows(before, demand) for demand in _DEMANDS)
    return "nothing is owed: no due instant, retry or restart is pending"
