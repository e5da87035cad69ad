"""Every version that a page, the package or a workflow names is the one that is tested."""

import re
import sqlite3

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from kron._version import __version__
from tests.cluster.build import version as kubernetes_version
from tests.packaging import sqlite_versions, workflows
from tests.packaging.images import base_image
from tests.packaging.versions import PAGE, ROOT, SYSTEMS, classified, page, pinned, project, requirements


def test_the_page_is_the_one_that_is_written() -> None:
    assert PAGE.read_text("utf-8") == page(), "if this is meant, write it down: make versions"


def test_the_oldest_python_is_the_same_in_the_package_the_classifiers_the_workflow_and_make() -> None:
    oldest = classified()[0]

    assert project()["requires-python"] == f">={oldest}"
    assert workflows.pythons()[0] == oldest
    assert f"command -v python{oldest} " in (ROOT / "Makefile").read_text("utf-8")


def test_every_python_that_the_classifiers_name_is_run_by_the_workflow() -> None:
    assert set(classified()) <= set(workflows.pythons())
    assert all(version in SpecifierSet(project()["requires-python"]) for version in workflows.pythons())


def test_the_images_have_a_python_that_the_classifiers_name() -> None:
    assert base_image().partition(":")[2].removesuffix("-slim") in classified()


def test_the_workflow_runs_the_library_on_three_systems() -> None:
    assert [runner.partition("-")[0] for runner in workflows.systems()] == list(SYSTEMS)


def test_every_package_is_tested_with_a_version_within_its_bounds() -> None:
    versions = pinned()
    required = [each for several in requirements().values() for each in several]
    required += map(Requirement, project()["optional-dependencies"]["test"])

    outside = [
        each for each in required
        if each.name != project()["name"] and not each.specifier.contains(versions.get(each.name.lower(), "0"))
    ]  # fmt: skip

    assert required
    assert outside == []


def test_the_sqlite_of_this_python_is_not_older_than_the_oldest_that_is_supported() -> None:
    oldest = next(iter(sqlite_versions.VERSIONS))

    assert sqlite3.sqlite_version_info >= tuple(map(int, oldest.split(".")))


def test_the_versions_of_sqlite_are_in_order_and_their_tests_exist() -> None:
    versions = [tuple(map(int, version.split("."))) for version in sqlite_versions.VERSIONS]

    assert versions == sorted(versions)
    assert all((ROOT / path).exists() for path in sqlite_versions.TESTS)


def test_the_pages_name_the_kubernetes_that_is_tested() -> None:
    for name in ("deploying.md", "cluster-tests.md", "versions.md"):
        assert kubernetes_version() in (ROOT / "docs" / name).read_text("utf-8"), name


def test_the_security_policy_names_the_version_that_gets_fixes() -> None:
    minor = ".".join(__version__.split(".")[:2])

    rows = re.findall(r"^\| (\S+) \| yes \|$", (ROOT / "SECURITY.md").read_text("utf-8"), re.MULTILINE)

    assert rows == [f"{minor}.x"]
