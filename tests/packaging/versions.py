"""docs/versions.md, from pyproject.toml, constraints.txt, the workflows and the tests; `make versions` writes it."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tests.cluster.build import MODULE
from tests.packaging import images, sqlite_versions, workflows
from tests.packaging.go_tools import ACTIONLINT, HELM

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "versions.md"
SYSTEMS = {"ubuntu": "Linux", "macos": "macOS", "windows": "Windows"}  # by the first word of a runner
_PROGRAMS = {"k8s.io/kubernetes": "Kubernetes", "go.etcd.io/etcd/server/v3": "etcd"}  # by their modules
_FOR_DEVELOPERS = ("docs", "test")  # extras that no user installs
_HEAD = """# Supported versions

Written by `make versions` from `pyproject.toml`, `constraints.txt`, the workflows and the tests; a test fails if one of
them says something else. Only the newest version of Kron gets fixes, those for security (`SECURITY.md`) included.
"""
_TRIED = """
**What has run where.** The project is tested on Python {oldest} on Linux. On Python 3.12.1 and 3.13.0 the tests of
`cron`, `decision`, `errors`, `forecast`, `jobfile`, `kronjob`, `theory`, `rules`, `engine`, the library and the SQLite
ledgers ran once, on 2026-11-19, on Linux. The workflows of `.github/workflows` have not run anywhere yet: Python 3.14,
macOS and Windows were not tried. For macOS and Windows, the tests of `make test-library` ran on Linux without the
modules that Windows lacks.
"""
_PACKAGES = """
## Packages

Bounds are those of `pyproject.toml`; the tests run with one version within them.

"""


def project() -> dict[str, Any]:
    """Return the table [project] of pyproject.toml."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert isinstance(found, dict)
    return found


def requirements() -> dict[str, list[Requirement]]:
    """Return what the library and each extra that users install require of others."""
    extras = {name: lines for name, lines in project()["optional-dependencies"].items() if name not in _FOR_DEVELOPERS}
    named = {"": project()["dependencies"], **extras}
    return {
        extra: [each for each in map(Requirement, lines) if each.name != project()["name"]]
        for extra, lines in named.items()
    }


def pinned() -> dict[str, str]:
    """Return the version of each package that the tests run with, by its name in lower case."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return {name.lower().replace("_", "-"): version for name, _, version in (line.partition("==") for line in lines)}


def classified() -> list[str]:
    """Return the versions of Python that the classifiers name, the oldest first."""
    return re.findall(r"'Programming Language :: Python :: (3\.\d+)'", str(project()["classifiers"]))


def module_version(module: str) -> str:
    """Return the version of a Go module that the tests on a cluster are built from."""
    found = re.search(rf"^\t{re.escape(module)} v(\S+)", (MODULE / "go.mod").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def page() -> str:
    """Return the page."""
    oldest = classified()[0]
    return "".join(
        [
            _HEAD,
            "\n## Python and systems\n\n",
            *_table(("what", "supported", "tested by"), _python_rows()),
            _TRIED.format(oldest=oldest),
            "\n## Programs and libraries below Kron\n\n",
            *_table(("what", "supported", "tested with", "tested by"), _program_rows()),
            _PACKAGES,
            *_table(("package", "extra", "bounds", "tested with"), _package_rows()),
        ]
    )


def _python_rows() -> Iterator[tuple[str, ...]]:
    for version in workflows.pythons():
        supported = "yes" if version in classified() else "not yet: the workflow tries it"
        more = ", `make test-slow`, `make test-cluster`" if version == classified()[0] else ""
        yield f"Python {version}", supported, f"`make test`{more}"
    for runner in workflows.systems():
        name = SYSTEMS[runner.partition("-")[0]]
        everything = name == "Linux"
        what = "everything" if everything else "schedules and decisions: not `Scheduler`, `krond` and the operator"
        yield name, what, "all tests" if everything else f"`make test-library` on `{runner}` in `ci.yml`"


def _program_rows() -> Iterator[tuple[str, ...]]:
    versions = list(sqlite_versions.VERSIONS)
    least = ".".join(versions[0].split(".")[:2])
    yield "SQLite", f"{least} or later, with its JSON functions", ", ".join(versions), "`make test-sqlite`"
    yield "SQLite of your Python", f"{least} or later", "the one of the Python that runs the tests", "`make test`"
    for module, name in _PROGRAMS.items():
        supported = "see [deploying](deploying.md)" if name == "Kubernetes" else "any: only the API server uses it"
        yield name, supported, module_version(module), "`make test-cluster`"
    yield "Helm", "3", HELM.version.removeprefix("v"), "`make test-slow`"
    python = images.base_image().partition(":")[2]
    yield (
        "base of the images",
        f"`python:{python}`, by its digest",
        "not built where Kron is tested",
        "`make container`",
    )
    yield "actionlint", "for the workflows", ACTIONLINT.version.removeprefix("v"), "`make workflows`"


def _package_rows() -> Iterator[tuple[str, ...]]:
    versions = pinned()
    for extra, required in requirements().items():
        for each in required:
            name = f"`{extra}`" if extra else "none: always installed"
            yield f"`{each.name}`", name, f"`{_in_order(each)}`", versions[each.name.lower().replace("_", "-")]


def _in_order(requirement: Requirement) -> str:
    return ",".join(sorted(map(str, requirement.specifier), reverse=True))


def _table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heading)} |\n"
    yield f"|{'---|' * len(heading)}\n"
    for row in rows:
        yield f"| {' | '.join(row)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
