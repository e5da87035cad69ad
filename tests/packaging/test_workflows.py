"""The workflows do nothing that cannot be done here: each step is a target of the Makefile or a pinned action."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.go_tools import ToolMissingError
from tests.packaging.release import obstacles
from tests.packaging.workflows import FILES, FOLDER, ROOT, actionlint, commands, jobs, targets, workflow

JOBS = dict(jobs())
PINNED = re.compile(r"^[\w-]+/[\w-]+@[0-9a-f]{40}$")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return actionlint(folder)
    except ToolMissingError as error:
        pytest.skip(f"the workflows were NOT checked by actionlint: {error}")


def test_there_are_workflows_for_changes_for_the_night_and_for_releases() -> None:
    assert [path.name for path in FILES] == ["ci.yml", "nightly.yml", "release.yml"]


@pytest.mark.parametrize("command", sorted(set(commands())))
def test_what_a_step_runs_is_a_target_of_the_makefile(command: str) -> None:
    make, target = command.split(" ")

    assert make == "make"
    assert target in targets()


@pytest.mark.parametrize("name", JOBS)
def test_an_action_is_pinned_to_a_commit(name: str) -> None:
    actions = [step["uses"] for step in JOBS[name]["steps"] if "uses" in step]

    assert actions
    assert [action for action in actions if not PINNED.fullmatch(action)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_pinned_action_names_its_version_and_has_one_commit_everywhere(path: Path) -> None:
    lines = re.findall(r"uses: (\S+)@(\S+)(.*)", path.read_text("utf-8"))
    everywhere = set(re.findall(r"uses: (\S+@\S+ # v[\d.]+)$", "".join(map(Path.read_text, FILES)), re.MULTILINE))

    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", version) for _, _, version in lines)
    assert len({each.partition("@")[0] for each in everywhere}) == len(everywhere)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_workflow_may_read_the_sources_and_nothing_else(path: Path) -> None:
    assert workflow(path)["permissions"] == {"contents": "read"}


def test_only_the_job_that_publishes_has_more_rights_and_an_environment() -> None:
    more = {name: job["permissions"] for name, job in JOBS.items() if "permissions" in job}

    assert more == {"release.yml:publish": {"id-token": "write"}}
    assert JOBS["release.yml:publish"]["environment"] == "release"


def test_a_release_is_checked_tested_and_built_before_it_is_published() -> None:
    run = [step["run"] for step in JOBS["release.yml:build"]["steps"] if "run" in step]

    assert run == ["make release-check", "make test", "make dist"]
    assert JOBS["release.yml:publish"]["needs"] == "build"


@pytest.mark.parametrize("name", JOBS)
def test_a_job_ends_within_a_time(name: str) -> None:
    assert 0 < JOBS[name]["timeout-minutes"] <= 240


def test_a_target_of_the_makefile_is_defined_once() -> None:
    names = re.findall(r"^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)

    assert sorted(names) == sorted(set(names))


# --- by actionlint itself ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_actionlint_finds_nothing() -> None:
    done = lint(FOLDER)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_actionlint_finds_a_mistake(tmp_path: Path) -> None:
    text = (FOLDER / "ci.yml").read_text("utf-8")
    (tmp_path / "ci.yml").write_text(text.replace("matrix.python", "matrix.pythn"))

    assert 'property "pythn" is not defined' in lint(tmp_path).stdout


# --- before a release -------------------------------------------------------------------------------------------------


def pyproject(url: str = "https://real.org/") -> dict[str, Any]:
    return {"project": {"urls": {"Source": url}}}


CHANGELOG = "# Changelog\n\n## 1.2.3 (2026-11-19)\n"


def test_a_version_with_its_tag_its_day_and_real_addresses_can_be_released() -> None:
    assert list(obstacles("v1.2.3", "1.2.3", CHANGELOG, pyproject())) == []


@pytest.mark.parametrize("tag", ["", "1.2.3", "v1.2.4"])
def test_a_release_needs_the_tag_of_its_version(tag: str) -> None:
    (found,) = obstacles(tag, "1.2.3", CHANGELOG, pyproject())

    assert found.endswith("tag it v1.2.3")


@pytest.mark.parametrize("heading", ["## 1.2.3 (unreleased)", "## 1.2.2 (2026-11-19)", "## 1x2.3 (2026-11-19)", ""])
def test_a_release_needs_its_day_in_the_changelog(heading: str) -> None:
    (found,) = obstacles("v1.2.3", "1.2.3", heading, pyproject())

    assert found.startswith("CHANGELOG.md has no heading")


@pytest.mark.parametrize("url", ["https://kron.example/", "https://kron.example/x", "https://x.invalid"])
def test_a_release_needs_real_addresses(url: str) -> None:
    (found,) = obstacles("v1.2.3", "1.2.3", CHANGELOG, pyproject(url))

    assert found == f"project.urls.Source in pyproject.toml is a placeholder: {url}"
