"""What a newcomer reads first names only what exists: targets, files, tests, commands, markers, addresses."""

import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from kron.cli.commands import kron
from kron.hosts.krond.commands.group import krond
from tests.commands import command_of
from tests.packaging.versions import project
from tests.packaging.workflows import ROOT, targets

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")]
TEMPLATES = [*sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ROOT / ".github/pull_request_template.md"]
FORMS = [path for path in TEMPLATES if path.name in ("bug.yml", "feature.yml")]
ELEMENTS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}  # of a form of GitHub
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def form(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    "page", [*PAGES, *TEMPLATES, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_every_make_target_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"`(?:[A-Z]+=\S+ )?make ([a-z-]+(?: [a-z-]+)*)`", page.read_text("utf-8"))

    assert {target for words in named for target in words.split()} <= targets()


def test_every_file_that_the_contributing_page_names_exists() -> None:
    named = re.findall(
        r"`((?:src|tests|docs|deploy|packaging|\.github)/[\w/.-]+|\.?[\w-]+\.(?:yaml|toml|txt|md))`", CONTRIBUTING
    )

    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_test_that_the_contributing_page_names_exists() -> None:
    example = "test_a_period_past_its_deadline_is_missed"  # of the form of a name
    defined = {
        name for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }  # fmt: skip

    assert set(re.findall(r"`(test_\w+)`", CONTRIBUTING)) - {example} <= defined


def test_every_marker_is_on_the_contributing_page() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]

    assert all(f"marked `{marker.partition(':')[0]}`" in CONTRIBUTING for marker in options["markers"])


def test_pages_name_an_address_of_the_package_and_do_not_repeat_it() -> None:
    urls = project()["urls"]
    texts = {path.name: path.read_text("utf-8") for path in [*PAGES, *TEMPLATES, *(ROOT / "docs").glob("*.md")]}

    named = set(re.findall(r"`([A-Z]\w+)`\s(?:under|in)\s`\[project\.urls\]`", "".join(texts.values())))

    assert named == {"Issues", "Security"}
    assert named <= urls.keys()
    assert [(name, url) for name, text in texts.items() for url in urls.values() if url in text] == []


# --- issues -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_has_what_github_asks_of_it(path: Path) -> None:
    found = form(path)
    fields = [element for element in found["body"] if element["type"] != "markdown"]

    assert found["name"]
    assert found["description"]
    assert {element["type"] for element in found["body"]} <= ELEMENTS
    assert all(element["attributes"]["label"] for element in fields)
    assert len({element["id"] for element in fields}) == len(fields)
    assert any(element.get("validations", {}).get("required") for element in fields)


def test_a_report_of_a_bug_has_the_version_the_status_and_the_reason() -> None:
    (path,) = (path for path in FORMS if path.name == "bug.yml")
    labels = {element["attributes"].get("label") for element in form(path)["body"]}

    assert {"kron --version", "krond status --json", "krond why JOB --at T"} <= labels


def test_what_a_report_asks_for_are_options_of_the_commands() -> None:
    def options(command: click.Command) -> set[str]:
        return {name for parameter in command.params for name in parameter.opts}

    assert "--version" in options(kron)
    assert "--json" in options(command_of(krond, "status"))
    assert "--at" in options(command_of(krond, "why"))


# --- hooks ------------------------------------------------------------------------------------------------------------


def test_hooks_before_a_commit_run_what_setup_has_installed() -> None:
    (repository,) = form(ROOT / ".pre-commit-config.yaml")["repos"]
    entries = [hook["entry"].split()[:2] for hook in repository["hooks"]]

    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    assert all(first == ".venv/bin/ruff" or (first == "make" and second in targets()) for first, second in entries)
