"""No module branches on the name of a revision: it asks the contract."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = re.compile(r"\b(POLLING_DRAFT|POLLING|DECLARATIVE|KRON)\b|[\"'](polling-draft|polling|declarative)[\"']")


def test_the_name_of_a_preset_stands_in_the_contract_alone() -> None:
    modules = [path for path in (ROOT / "src").rglob("*.py") if path.name != "contract.py"]

    assert [path.name for path in modules if NAMES.search(path.read_text("utf-8"))] == []
