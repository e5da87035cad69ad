"""docs/faults.md: every test that it names exists, and every test of these folders is named."""

import re
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_HERE = "tests/faults"
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_DEFINED = re.compile(r"^def (test_\w+)", re.MULTILINE)


def defined(path: Path) -> set[tuple[str, str]]:
    return {(str(path.relative_to(_ROOT)), name) for name in _DEFINED.findall(path.read_text("utf-8"))}


def test_the_page_names_every_fault_that_is_tried_and_no_other() -> None:
    named = set(_NAMED.findall((_ROOT / "docs/faults.md").read_text("utf-8")))
    here = set[tuple[str, str]]().union(*map(defined, (_ROOT / _HERE).glob("test_*.py"))) - defined(Path(__file__))
    elsewhere = {test for test in named if not test[0].startswith(_HERE)}

    assert {test for test in named if test[0].startswith(_HERE)} == here
    assert all(test in defined(_ROOT / test[0]) for test in elsewhere)
