"""docs/architecture.md names only packages, modules, functions and classes that exist, and every package of `kron`.

Classes that the glossary names exist, too.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_SOURCE = _ROOT / "src" / "kron"
_PAGE = (_ROOT / "docs" / "architecture.md").read_text("utf-8")
_GLOSSARY = (_ROOT / "docs" / "glossary.md").read_text("utf-8")
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", _BLOCK.sub("", _PAGE) + _GLOSSARY)))
_PLACE = re.compile(r"([\w/]+\.py):([\w.]+)")  # a file and what it defines
_PLACES = [quoted for quoted in _QUOTED if _PLACE.fullmatch(quoted)]
_PATHS = [quoted for quoted in _QUOTED if re.fullmatch(r"[\w./*-]+(/|\.(py|txt|json|toml|md))", quoted)]
_MODULES = [quoted for quoted in _QUOTED if re.fullmatch(r"(kron|tests)(\.\w+)+", quoted)]
_CLASSES = [quoted for quoted in _QUOTED if re.fullmatch(r"[A-Z][a-z]\w+", quoted)]
_QUESTIONS = 6


@cache
def definitions(path: Path) -> frozenset[str]:
    """Return what a module defines: functions and classes by their names, methods as `Class.method`."""
    found = set[str]()

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    collect(node.body, f"{prefix}{node.name}.")

    collect(ast.parse(path.read_text("utf-8")).body, "")
    return frozenset(found)


@cache
def classes() -> frozenset[str]:
    return frozenset[str]().union(*map(definitions, _SOURCE.rglob("*.py")))


def section(title: str) -> str:
    return _PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of the rows of a table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.mark.parametrize("place", _PLACES)
def test_a_function_that_is_named_is_in_its_file(place: str) -> None:
    file, _, name = place.partition(":")

    assert name in definitions(_SOURCE / file)


@pytest.mark.parametrize("path", _PATHS)
def test_a_path_that_is_named_exists_below_the_source_or_the_root(path: str) -> None:
    assert any((folder / path).exists() for folder in (_SOURCE, _ROOT))


@pytest.mark.parametrize("module", _MODULES)
def test_a_module_that_is_named_exists(module: str) -> None:
    path = (_ROOT if module.startswith("tests") else _ROOT / "src") / module.replace(".", "/")

    assert path.is_dir() or path.with_suffix(".py").is_file()


@pytest.mark.parametrize("name", _CLASSES)
def test_a_class_that_is_named_is_defined(name: str) -> None:
    assert name in classes()


def test_the_page_names_places_paths_modules_and_classes() -> None:
    assert all((_PLACES, _PATHS, _MODULES, _CLASSES))


def test_the_table_of_packages_has_every_package_of_kron() -> None:
    packages = [f"`kron.{path.parent.name}`" for path in sorted(_SOURCE.glob("*/__init__.py"))]

    assert sorted(cells[0] for cells in rows(section("Packages"))) == packages


def test_each_of_the_six_questions_has_one_function() -> None:
    places = [cells[1].strip("`") for cells in rows(section("Six questions"))]

    assert len(places) == _QUESTIONS
    assert set(places) <= set(_PLACES)


def test_the_order_of_the_packages_is_the_one_that_is_checked() -> None:
    contracts = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    order = section("Order of the packages").partition("```\n")[2].partition("```")[0]

    assert [line.strip(" >") for line in order.splitlines()] == [re.sub(r"[()]", "", layer) for layer in layers]
