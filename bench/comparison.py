"""Comparison: a run beside an earlier run, promise by promise and figure by figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bench.results import Cells, Run
from bench.suite import Suite
from bench.tables import MISSING, Promise, Table, number

_NOISE = "Differences of figures below 1.5x are noise; a promise has its own bound."


@dataclass(frozen=True, slots=True)
class PromiseChange:
    """A promise as the baseline measured it and as it is measured now; `before` is None if the baseline lacks it."""

    now: Promise
    before: float | None

    @property
    def missed(self) -> bool:
        """Whether the promise is not met, or is no longer measured although the baseline has a figure for it."""
        return self.now.verdict == "NOT MET" or (self.now.measured is None and self.before is not None)

    def row(self) -> tuple[str, ...]:
        """Return the promise as a row of the comparison."""
        text, bound, measured, *_, verdict = self.now.row()
        before = MISSING if self.before is None else f"{number(self.before)}{self.now.unit}"
        return (text, bound, before, measured, _ratio(self.before, self.now.measured), verdict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two runs, in the suites that the later one measured."""

    promises: Sequence[PromiseChange]
    figures: Sequence[tuple[str, ...]]

    @property
    def missed(self) -> list[PromiseChange]:
        """The promises that the later run does not keep."""
        return [change for change in self.promises if change.missed]

    def __str__(self) -> str:
        columns = ("baseline", "now", "now / baseline")
        promises = Table(
            "Promises beside the baseline",
            ("promise", "bound", *columns, "verdict"),
            [change.row() for change in self.promises],
        )
        figures = Table("Figures of Kron beside the baseline", ("row", "figure", *columns), self.figures, (_NOISE,))
        summary = f"{len(self.missed)} of {len(self.promises)} promises missed"
        return "\n\n".join([str(table) for table in (figures, promises) if table.rows] + [summary])


def compare(suites: Iterable[Suite], baseline: Sequence[Run], now: Sequence[Run]) -> Comparison:
    """Compare the runs of each suite that has some in `now` with those of the baseline."""
    promises: list[PromiseChange] = []
    figures: list[tuple[str, ...]] = []
    measured = {run.suite for run in now}
    for suite in suites:
        if suite.name in measured:
            before, after = (Cells(run for run in runs if run.suite == suite.name) for runs in (baseline, now))
            promises += _promises(suite, before, after)
            figures += _figures(suite, before, after)
    return Comparison(promises, figures)


def _promises(suite: Suite, before: Cells, after: Cells) -> list[PromiseChange]:
    """Pair the promises by their text; one that only the baseline could state is one that is no longer measured."""
    earlier = {promise.text: promise for promise in suite.promises(before)}
    later = {promise.text: promise for promise in suite.promises(after)}
    gone = {text: replace(promise, measured=None) for text, promise in earlier.items() if text not in later}
    return [
        PromiseChange(promise, earlier[text].measured if text in earlier else None)
        for text, promise in (later | gone).items()
    ]


def _figures(suite: Suite, before: Cells, after: Cells) -> list[tuple[str, ...]]:
    """Return a row for each figure of Kron's own rows: how fast a peer is tells nothing about a change of Kron."""
    rows: list[tuple[str, ...]] = []
    for cell in after.measured():
        if cell.peer.startswith("kron"):
            names = dict.fromkeys(name for run in cell.counted for name in run.figures)
            for name in names:
                old, new = before[cell.peer].get(name), cell.get(name)
                rows.append((f"{suite.name} {cell.peer}", name, number(old), number(new), _ratio(old, new)))
    return rows


def _ratio(before: float | None, now: float | None) -> str:
    return MISSING if not before or now is None else f"{number(now / before)}x"
