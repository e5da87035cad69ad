"""Write decisions.json from the cases. Run by hand when the algorithm's version changes, with --force.

    python -m tests.golden.make_decisions [--force]

A decision is written only if the reference, which shares no code with Kron, has made the same one.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from kron import Timing, decide
from kron.instant import MICROSECOND, format_instant, parse_instant
from tests.decision import reference
from tests.golden.cases import CASES, Case

FILE = Path(__file__).with_name("decisions.json")


def timing_of(vector: dict[str, object]) -> Timing:
    """Return the timing that a vector's line or definition names."""
    identity = str(vector["identity"])
    given = vector.get("line", vector.get("definition"))
    return Timing.parse(given, identity=identity) if isinstance(given, str) else _structured(given, identity)


def _structured(given: object, identity: str) -> Timing:
    assert isinstance(given, dict)
    return Timing.from_dict(given, identity=identity)


def vectors(case: Case) -> Iterator[dict[str, object]]:
    """Yield the case's definition with each of its periods and the decision made in it."""
    key = "line" if isinstance(case.definition, str) else "definition"
    head: dict[str, object] = {"title": case.title, key: case.definition, "identity": case.identity}
    timing = timing_of(head)
    nominal = parse_instant(case.start) - MICROSECOND
    for _ in range(case.count):
        nominal = timing.schedule.next(nominal)
        decision = decide(timing, nominal).to_dict()
        del decision["tzdata_version"]  # the choice must be the same with every version that knows these years
        if decision != reference.decide(case.definition, case.identity, nominal):
            raise SystemExit(f"the reference disagrees about {case.title}, {format_instant(nominal)}")
        yield {**head, "nominal": format_instant(nominal), "decision": decision}


def main() -> None:
    """Write the file, unless there is one already."""
    if FILE.exists() and "--force" not in sys.argv[1:]:
        raise SystemExit(f"{FILE} exists; a changed decision is a major version. Write it anyway with --force")
    lines = [json.dumps(vector, ensure_ascii=False) for case in CASES for vector in vectors(case)]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
