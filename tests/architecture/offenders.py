"""The architecture rules and the modules that break them today: lists that may only shrink.

    python -m tests.architecture.offenders [--write]

prints each list as the code is now; `--write` writes the lists, and keeps the reasons that they give. A module is named
as an import names it, so that whatever rewrites imports rewrites the lists too. The source is read with regular
expressions, which takes a tenth of the time that parsing takes; ruff keeps its form.
"""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("offenders")
RETIRED = Path(__file__).with_name("retired_names.txt")
RETIRED_WORDS = Path(__file__).with_name("retired_words.txt")
PROSE_FOLDERS = ("src", "tests", "docs", "bench")
SHORTEST, LONGEST = 40, 400

_CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
_PUBLIC_CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
_FROM = re.compile(r"^ *from ([\w.]+) import (\([^)]*\)|[^\n#]*)", re.MULTILINE)
_IMPORT = re.compile(r"^ *import ([\w., ]+?)(?: +#.*)?$", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
_PROSE = {".py", ".md", ".toml", ".html", ".js", ".css", ".yaml", ".1", ".5", ".8"}
_OURS = {"kron", "tests", "bench"}


@dataclass(frozen=True, slots=True)
class Module:
    """What the rules ask about a module."""

    name: str
    is_package: bool
    lines: int
    classes: frozenset[str]
    public_classes: tuple[str, ...]
    imported: frozenset[str]  # dotted names: modules, and what is imported from ours
    libraries: frozenset[str]  # third-party


def read_module(name: str, text: str, *, is_package: bool = False) -> Module:
    """Return what the rules ask about a module of this text."""
    imported: set[str] = set()
    for names in _IMPORT.findall(text):
        imported.update(each.split()[0] for each in names.split(",") if each.split())
    for source, names in _FROM.findall(text):
        plain = _COMMENT.sub("", names).strip("()")
        imported.add(source)
        imported.update(f"{source}.{each.split()[0]}" for each in plain.split(",") if each.split())
    tops = {each.partition(".")[0] for each in imported}
    return Module(
        name,
        is_package,
        text.count("\n"),
        frozenset(_CLASS.findall(text)),
        tuple(_PUBLIC_CLASS.findall(text)),
        frozenset(each for each in imported if each.partition(".")[0] in _OURS),
        frozenset(tops - _OURS - sys.stdlib_module_names),
    )


@cache
def modules(folder: str) -> tuple[Module, ...]:
    """Return the modules below a folder of the project."""
    top = ROOT / "src" if folder == "src" else ROOT
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(top).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found.append(read_module(name, path.read_text("utf-8"), is_package=is_package))
    return tuple(found)


def short_modules(of: Iterable[Module]) -> list[str]:
    """Return the modules that are too short; the `__init__` of a package only says what may be in it."""
    return [each.name for each in of if each.lines < SHORTEST and not each.is_package]


def long_modules(of: Iterable[Module]) -> list[str]:
    """Return the modules that are too long."""
    return [each.name for each in of if each.lines > LONGEST]


def doubled_classes(of: Iterable[Module]) -> list[str]:
    """Return the public class names that are defined more than once."""
    names = sorted(name for each in of for name in each.public_classes)
    return sorted({name for name, following in pairwise(names) if name == following})


def third_party_imports(of: Iterable[Module]) -> list[str]:
    """Return `module library` for each library that a module imports."""
    return [f"{each.name} {library}" for each in of for library in sorted(each.libraries)]


def modules_with_retired_names(of: Iterable[Module], retired: Iterable[str]) -> list[str]:
    """Return the modules that are, define or import something with a retired name.

    A retired name with dots is a module, with all that is below it; one without is a class.
    """
    gone = set(retired)
    return [each.name for each in of if not gone.isdisjoint(_names_in(each))]


def _names_in(module: Module) -> set[str]:
    names = set(module.classes)
    for dotted in (module.name, *module.imported):
        parts = dotted.split(".")
        names.update(".".join(parts[:length]) for length in range(2, len(parts) + 1))
        names.add(parts[-1])
    return names


def retired_names() -> list[str]:
    """Return the names that are not to be used."""
    return _entries(RETIRED)


def retired_words() -> list[str]:
    """Return the words and phrases that prose is not to use."""
    return _entries(RETIRED_WORDS)


def lines_with(words: Iterable[str], text: str) -> list[str]:
    """Return the lines that use one of the words, except alone between quotation marks, where it is a name."""
    either = "|".join(re.escape(word) for word in words)
    quoted = re.compile(rf"""(["'])(?:{either})\1""")
    used = re.compile(rf"\b(?:{either})\b", re.IGNORECASE)
    return [line for line in text.splitlines() if used.search(quoted.sub("", line))]


def prose_count(folder: str, words: Iterable[str]) -> int:
    """Return how many lines of a folder's text files use one of the words."""
    wanted = list(words)
    return sum(len(lines_with(wanted, text)) for text in _texts(folder))


def _texts(folder: str) -> Iterable[str]:
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in _PROSE and path.is_file():
            yield path.read_text("utf-8", errors="replace")


def _entries(file: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in file.read_text("utf-8").splitlines())
    return [line for line in lines if line]


def current() -> dict[str, list[str]]:
    """Return each list as the code is now, by the name of its file."""
    source, tests = modules("src"), modules("tests")
    return {
        "short_modules.txt": short_modules(source),
        "long_modules.txt": long_modules((*source, *tests, *modules("bench"))),
        "doubled_classes.txt": doubled_classes(source),
        "third_party_imports.txt": third_party_imports(source),
        "modules_with_retired_names.txt": modules_with_retired_names((*source, *tests), retired_names()),
        "lines_with_retired_words.txt": [
            f"{folder} {prose_count(folder, retired_words())}" for folder in PROSE_FOLDERS
        ],
    }


def listed(name: str) -> dict[str, str]:
    """Return the entries of a list, each with the reason beside it."""
    lines = (line.partition("#") for line in (FOLDER / name).read_text("utf-8").splitlines())
    return {entry.strip(): reason.strip() for entry, _, reason in lines if entry.strip()}


def text_of(name: str, entries: Iterable[str]) -> str:
    """Return a list as its file has it, with its heading and with the reasons that the file gives now."""
    file = FOLDER / name
    heading = [line for line in file.read_text("utf-8").splitlines() if line.startswith("#")] if file.exists() else []
    reasons = listed(name) if file.exists() else {}
    lines = (f"{entry}  # {reasons[entry]}" if reasons.get(entry) else entry for entry in sorted(entries))
    return "\n".join([*heading, *lines]) + "\n"


def main() -> None:
    """Print the lists, or write them."""
    for name, entries in current().items():
        if "--write" in sys.argv[1:]:
            (FOLDER / name).write_text(text_of(name, entries), "utf-8")
        else:
            print(f"{name}\n{text_of(name, entries)}")


if __name__ == "__main__":
    main()
