"""No module branches on the name of a contract: it reads the contract's fields."""

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = re.compile(r"\b(POLLING_DRAFT|POLLING|DECLARATIVE|KRON)\b|[\"'](polling-draft|polling|declarative)[\"']")


def test_the_name_of_a_preset_is_in_the_contract_alone() -> None:
    named = {
        path.relative_to(ROOT / "src/kron").as_posix() for path in modules() if NAMES.search(path.read_text("utf-8"))
    }

    # The theory, which knows no contract, has a table of its own: what each asks of a trace.
    assert named == {"rules/contract.py", "theory/properties.py"}


def modules() -> Iterable[Path]:
    return (ROOT / "src/kron").rglob("*.py")
