"""Only listed modules break the architecture rules, and the lists may only shrink.

A test fails if a new offender appears, and also if an entry is no longer needed. `python -m
tests.architecture.offenders --write` writes the lists as the code is now; the difference in git shows what changed.
"""

import pytest

from tests.architecture.offenders import (
    FOLDER,
    PROSE_FOLDERS,
    RETIRED,
    RETIRED_WORDS,
    current,
    doubled_classes,
    lines_with,
    listed,
    long_modules,
    modules,
    modules_with_retired_names,
    prose_count,
    read_module,
    retired_names,
    retired_words,
    short_modules,
    text_of,
    third_party_imports,
)

WRITE = "python -m tests.architecture.offenders --write"
RULES = [
    pytest.param("short_modules.txt", id="a module of src has at least 40 lines"),
    pytest.param("long_modules.txt", id="a module has at most 400 lines"),
    pytest.param("doubled_classes.txt", id="a public class name is defined once"),
    pytest.param("third_party_imports.txt", id="a library is imported only where the list says"),
    pytest.param("modules_with_retired_names.txt", id="retired names are not used"),
]


@pytest.mark.parametrize("name", RULES)
def test_only_listed_modules_break_a_rule(name: str) -> None:
    new = set(current()[name]) - set(listed(name))

    assert not new, f"not in {FOLDER.name}/{name}; rename, merge or split it"


@pytest.mark.parametrize("name", RULES)
def test_a_list_names_no_module_that_keeps_the_rule(name: str) -> None:
    over = set(listed(name)) - set(current()[name])

    assert not over, f"remove it from {FOLDER.name}/{name}: {WRITE}"


@pytest.mark.parametrize("name", ["short_modules.txt", "long_modules.txt"])
def test_an_exception_to_the_length_of_a_module_has_a_reason(name: str) -> None:
    assert [entry for entry, reason in listed(name).items() if not reason] == []


def test_retired_names_are_sorted_into_modules_and_classes_and_listed_once() -> None:
    names = retired_names()

    assert len(names) == len(set(names))
    assert all(name.startswith("kron.") == ("." in name) for name in names), RETIRED.name


def test_every_module_of_the_project_is_read() -> None:
    assert {"kron.cron.schedule", "kron"} <= {each.name for each in modules("src")}
    assert __name__ in {each.name for each in modules("tests")}


def listed_count(folder: str) -> int:
    return next(int(entry.split()[1]) for entry in listed("lines_with_retired_words.txt") if entry.startswith(folder))


@pytest.mark.parametrize("folder", PROSE_FOLDERS)
def test_a_folder_has_no_more_lines_with_retired_words_than_listed(folder: str) -> None:
    assert prose_count(folder, retired_words()) <= listed_count(folder), f"see {RETIRED_WORDS.name} for other words"


@pytest.mark.parametrize("folder", PROSE_FOLDERS)
def test_the_listed_number_of_lines_with_retired_words_shrinks_with_the_folder(folder: str) -> None:
    assert listed_count(folder) <= prose_count(folder, retired_words()), f"write the smaller number: {WRITE}"


def test_every_retired_word_is_listed_once_with_what_to_write_in_its_place() -> None:
    lines = [line for line in RETIRED_WORDS.read_text("utf-8").splitlines() if line and not line.startswith("#")]

    assert len(retired_words()) == len(set(retired_words())) == len(lines)
    assert all(line.partition("#")[2].strip() for line in lines)


# --- what counts ------------------------------------------------------------------------------------------------------

LONG = "pass\n" * 401
GROUPED = "from kron.engine.wake import (\n    Other,  # Reign\n    Wake as Alarm,\n)\n"


def test_a_module_is_short_below_40_lines_and_long_above_400() -> None:
    bodies = {"39": "pass\n" * 39, "40": "pass\n" * 40, "400": "pass\n" * 400, "401": LONG}
    read = [read_module(name, body) for name, body in bodies.items()]

    assert (short_modules(read), long_modules(read)) == (["39"], ["401"])


def test_the_init_of_a_package_may_be_short() -> None:
    assert short_modules([read_module("kron.x", '"""One line."""\n', is_package=True)]) == []


def test_a_class_name_is_doubled_if_two_modules_or_one_module_define_it() -> None:
    read = [read_module("a", "class A:\n    class Inner: ...\n"), read_module("b", "class A(Base):\nclass _P:\n")]

    assert doubled_classes([*read, read_module("c", "class _P:\nclass Inner:\n")]) == ["A"]


def test_libraries_are_found_in_both_forms_of_import_and_inside_functions() -> None:
    text = (
        "import os\nimport click\n    import h11, json\nfrom starlette.requests import Request\nfrom kron.x import y\n"
    )

    assert third_party_imports([read_module("m", text)]) == ["m click", "m h11", "m starlette"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tests.a", "class Reign:\n"),
        ("tests.a", "    class Reign(Base):\n"),
        ("tests.a", "from kron.hosts.operator import Reign\n"),
        ("tests.a", GROUPED.replace("Wake", "Reign")),
        ("tests.a", "from kron.rules.coming import something\n"),
        ("tests.a", "from kron.rules import other, coming\n"),
        ("tests.a", "    import kron.rules.coming\n"),
        ("tests.a", "import kron.rules.coming as elsewhere\n"),
        ("tests.a", "from kron.rules.files.keys import KEYS\n"),
        ("kron.rules.coming", ""),
        ("kron.rules.files.keys", ""),
    ],
)
def test_a_retired_name_is_found_where_it_is_defined_or_imported(name: str, text: str) -> None:
    retired = ["Reign", "kron.rules.coming", "kron.rules.files"]

    assert modules_with_retired_names([read_module(name, text)], retired) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "from asyncio import Task\n",  # a name of the standard library is not ours
        "class Reigning:\n",
        GROUPED,  # in a comment
        "from kron.rules.coming_soon import x\n",
        "from kron.rulescoming import x\n",
    ],
)
def test_other_names_are_no_retired_names(text: str) -> None:
    assert modules_with_retired_names([read_module("m", text)], ["Reign", "Task", "kron.rules.coming"]) == []


def test_a_written_list_is_sorted_and_keeps_its_heading_and_its_reasons() -> None:
    text = text_of("short_modules.txt", ["kron.new", "kron.__main__"])

    assert text.splitlines()[1:] == ["kron.__main__  # an entry point", "kron.new"]
    assert text.startswith("# Modules of src with less than 40 lines")


@pytest.mark.parametrize("word", retired_words())
def test_a_line_with_a_retired_word_counts_in_any_case(word: str) -> None:
    lines = [f"It is {word} here", f"# {word.upper()}, it is", word]

    assert lines_with(retired_words(), "\n".join(lines)) == lines


@pytest.mark.parametrize("word", retired_words())
def test_a_part_of_another_word_and_a_quoted_name_are_no_retired_words(word: str) -> None:
    lines = [f"x{word}", f"{word}s", f"no_{word}_yet", f'user = "{word}"', f"['{word}']"]

    assert lines_with([word], "\n".join(lines)) == []


def test_a_line_with_two_retired_words_counts_once() -> None:
    first, second, *_ = retired_words()

    assert lines_with(retired_words(), f"{first} {second}\n") == [f"{first} {second}"]
