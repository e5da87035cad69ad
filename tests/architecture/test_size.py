"""A module over 400 lines is two ideas."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 400
MODULES = sorted(
    path.relative_to(ROOT) for folder in ("src", "tests", "bench") for path in (ROOT / folder).rglob("*.py")
)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_holds_one_idea(module: Path) -> None:
    lines = (ROOT / module).read_text("utf-8").count("\n")

    assert lines <= LONGEST


@pytest.mark.parametrize("module", [path for path in MODULES if path.parts[0] == "src"], ids=str)
def test_a_module_opens_by_saying_what_it_is(module: Path) -> None:
    text = (ROOT / module).read_text("utf-8")

    assert text.startswith('"""')
