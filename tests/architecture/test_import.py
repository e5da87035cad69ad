"""What `import kron` loads, seen from a fresh interpreter."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

import kron
from kron.cli.commands import k8s as k8s_group, kron as kron_group
from kron.hosts.krond.commands.group import krond as krond_group
from tests.commands import command_of

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


def test_a_schedule_loads_no_dataclasses() -> None:
    """They load inspect, ast, dis and tokenize, which takes a third of the time."""
    loaded = modules_loaded_by(STATEMENTS["a schedule"])

    assert not loaded & {"dataclasses", "inspect", "ast", "dis", "tokenize"}


def test_importing_the_package_alone_loads_none_of_its_parts() -> None:
    loaded = {name for name in modules_loaded_by("import kron") if name.startswith("kron")}

    assert loaded == {"kron"}


@pytest.mark.parametrize(
    "words",
    [["krond", "status", "--state", "/nowhere"], ["krond", "--version"], ["kron", "next", "0 0 * * *"]],
    ids=["a question", "the version", "an expression"],
)
def test_a_command_loads_neither_the_engine_nor_the_theory_to_answer(words: list[str]) -> None:
    program, *arguments = words
    call = f"from kron.entry_points import {program}_main as main; import contextlib, io; sys.argv[1:] = {arguments}"
    quiet = "contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit)"

    loaded = modules_loaded_by(f"{call}\nwith {quiet}: main()")

    assert "click" in loaded
    assert not loaded & {"asyncio", "sqlite3", "kron.engine.loop", "kron.theory"}


@pytest.mark.parametrize("module", ["kron.cli.commands", "kron.hosts.krond.commands.group"])
def test_a_list_of_commands_does_not_load_the_commands(module: str) -> None:
    loaded = modules_loaded_by(f"import {module}")

    assert not {name for name in loaded if name.startswith(("kron.cron", "kron.jobfile", "kron.kronjob", "kron.rules"))}


@pytest.mark.parametrize(
    "module",
    [
        "kron.cli.commands",
        "kron.cli.forecast",
        "kron.cli.next",
        "kron.cli.verify",
        "kron.hosts.krond.commands.run",
        "kron.web",
        "kron.web.queries",
        "kron.web.source",
    ],
)
def test_a_program_without_pages_loads_neither_templates_nor_a_web_server(module: str) -> None:
    loaded = {name.partition(".")[0] for name in modules_loaded_by(f"import {module}")}

    assert not loaded & {"jinja2", "markupsafe", "starlette", "uvicorn"}


@pytest.mark.parametrize("group", [kron_group, krond_group, k8s_group], ids=["kron", "krond", "kron k8s"])
def test_a_command_has_the_name_under_which_it_is_found(group: click.Group) -> None:
    names = group.list_commands(click.Context(group))

    assert [command_of(group, name).name for name in names] == names


def test_the_oldest_click_that_is_allowed_has_types_without_parameters() -> None:
    """Since 8.2 `click.ParamType[str]` can be written; with 8.1, which the extras allow, it ends the import."""
    sources = Path(kron.__file__).parent.rglob("*.py")

    assert [path.name for path in sources if "ParamType[" in path.read_text("utf-8")] == []
