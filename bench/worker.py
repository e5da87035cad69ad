"""Measure one suite, peer and repeat in a process of its own, and print one line of JSON."""

import json
import sys

from bench.catalogue import SUITES
from bench.clock import PACE
from bench.results import YARDSTICK


def main(suite: str, peer: str, repeat: str) -> int:
    """Print what was measured, or the error that prevented it."""
    try:
        found = SUITES[suite].measure(peer, int(repeat))
        found.figures[YARDSTICK] = PACE.best * 1e6
        answer: dict[str, object] = {"figures": found.figures, "facts": found.facts}
    except Exception as error:  # whatever a peer raises is its result
        answer = {"error": f"{type(error).__name__}: {error}"[:300]}
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
