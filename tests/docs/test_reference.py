"""The reference is written from the code, is current, and leaves nothing out."""

import click
import pytest

import kron
from kron import errors, testing
from kron.kronjob.spec_fields import SPEC
from kron.rules.events import EVENTS, HOSTS, LIBRARY
from tests.docs.commands_page import PROGRAMS, leaves
from tests.docs.python_page import error_classes
from tests.docs.reference import FOLDER, WRITERS, page
from tests.docs.tables_pages import EVENT_MEANINGS, KROND_PATHS, OPERATOR_PATHS, host_event_meanings

COMMANDS = [
    context.command_path
    for name, group in PROGRAMS.items()
    for _, context in leaves(group, click.Context(group, info_name=name))
]


@pytest.mark.parametrize("name", WRITERS)
def test_a_page_of_the_reference_is_current(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == page(name), "write it: make reference"


def test_the_folder_has_no_page_that_nothing_writes() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(WRITERS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_section(command: str) -> None:
    assert f"\n### {command}\n" in page("commands.md")


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_a_row(name: str) -> None:
    assert f"\n| `{name}` |" in page("events.md")


def test_every_event_and_no_other_has_a_meaning() -> None:
    assert set(EVENT_MEANINGS) == set(LIBRARY)
    assert set(HOSTS) <= set(host_event_meanings())


def test_every_error_is_in_the_tree_that_is_shown() -> None:
    public = {each for each in vars(errors).values() if isinstance(each, type)}

    assert set(error_classes()) == {each for each in public if issubclass(each, errors.KronError)}


@pytest.mark.parametrize("name", [*kron.__all__, *testing.__all__])
def test_every_public_name_has_a_section(name: str) -> None:
    assert f"\n### `{name}`\n" in page("python.md")


@pytest.mark.parametrize("path", [*KROND_PATHS, *OPERATOR_PATHS])
def test_every_path_that_is_described_is_answered(path: str) -> None:
    assert f"\n| `{path.replace('{rest:path}', '…')}` |" in page("http.md")


@pytest.mark.parametrize("field", SPEC.fields)
def test_every_field_of_a_spec_has_a_row(field: str) -> None:
    assert f"\n| `{field}` |" in page("kronjob.md")
