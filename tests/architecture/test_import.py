"""What `import kron` loads, seen from a fresh interpreter."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import kron

REPORT = """
import sys
before = set(sys.modules)
{statement}
import json
print(json.dumps(sorted(set(sys.modules) - before)))
"""

STATEMENTS = {
    "import kron": "import kron",
    "a schedule": "import kron; kron.Schedule('0 9 * * 1-5', 'Europe/Paris')",
    "a decision": (
        "import kron, datetime; "
        "kron.decide(kron.Timing.parse('0 9 * * * @win(after,1h)', identity='x'), "
        "datetime.datetime(2026, 1, 1, 9, tzinfo=datetime.timezone.utc))"
    ),
}


def modules_loaded_by(statement: str) -> set[str]:
    answer = subprocess.run(
        [sys.executable, "-I", "-c", REPORT.format(statement=statement)], capture_output=True, text=True, check=True
    )
    return set(json.loads(answer.stdout))


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_neither_asyncio_nor_sqlite_is_loaded_before_it_is_needed(statement: str) -> None:
    loaded = modules_loaded_by(statement)

    assert not loaded & {"asyncio", "sqlite3", "logging", "socket", "threading"}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_no_third_party_module_but_tzdata_is_loaded(statement: str) -> None:
    loaded = {name.partition(".")[0] for name in modules_loaded_by(statement)}

    assert loaded <= set(sys.stdlib_module_names) | {"kron", "tzdata"}


def test_importing_the_package_alone_loads_none_of_its_parts() -> None:
    loaded = {name for name in modules_loaded_by("import kron") if name.startswith("kron")}

    assert loaded == {"kron"}


def test_the_oldest_click_that_is_allowed_has_types_without_parameters() -> None:
    """Since 8.2 `click.ParamType[str]` can be written; with 8.1, which the extras allow, it ends the import."""
    sources = Path(kron.__file__).parent.rglob("*.py")

    assert [path.name for path in sources if "ParamType[" in path.read_text("utf-8")] == []
