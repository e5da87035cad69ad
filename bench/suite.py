"""Suite: what the runner needs to know about a suite, and a suite about its results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bench.results import Cells
from bench.tables import Promise, Table


@dataclass(slots=True)
class Measurement:
    """What a suite fills in for one peer: figures are numbers, facts are texts."""

    figures: dict[str, float] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suite:
    """`measure(peer, repeat)` runs in the peer's own process; the rest runs in the runner's, and imports no peer.

    A suite that measures its peers with several numbers of tasks has a row for each (`rows.py`) in place of a peer.
    """

    name: str
    peers: tuple[str, ...]
    measure: Callable[[str, int], Measurement]
    tables: Callable[[Cells], list[Table]]
    promises: Callable[[Cells], list[Promise]]
    fewest_repeats: int = 1
    most_repeats: Mapping[str, int] = field(default_factory=dict)  # for rows that take long
    seconds_allowed: float = 120.0
    plot: Callable[[Cells], str] | None = None  # an SVG image beside the report, empty if there is nothing to draw
