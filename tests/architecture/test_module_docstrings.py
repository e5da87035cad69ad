"""A module of src opens with a docstring, and the names that it begins with are in the module."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGES = sorted(SOURCE.rglob("__init__.py"))
MODULES = sorted(set(SOURCE.rglob("*.py")) - set(PACKAGES))
DEFINED = (
    re.compile(r'"""((?:\w+, )*\w+): '),  # "Decision: everything about …", "Clock, Ledger, Runner, Sink: what …"
    re.compile(r'"""(\w+)\('),  # "decide(timing, nominal) -> Decision: …"
)
RETURNED = re.compile(r'"""\w+\([^)]*\) -> ([A-Z]\w+)\b')


@pytest.mark.parametrize("module", MODULES + PACKAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_opens_by_saying_what_it_is(module: Path) -> None:
    text = module.read_text("utf-8")

    assert text.startswith('"""')


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_docstring_of_a_module_begins_with_names_that_the_module_has(module: Path) -> None:
    text = module.read_text("utf-8")
    body = text.split('"""', 2)[2]
    defined = [name for pattern in DEFINED if (found := pattern.match(text)) for name in found[1].split(", ")]
    returned = [found[1]] if (found := RETURNED.match(text)) else []

    missing = [name for name in defined if not re.search(rf"^(async def |def |class |){name}\b", body, re.MULTILINE)]
    missing += [name for name in returned if not re.search(rf"\b{name}\b", body)]
    assert missing == []
