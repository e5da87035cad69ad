"""A file at a ledger's path that is no ledger, or a damaged one, is refused, named and left unchanged."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kron.errors import LedgerUnusableError
from tests.crash.damaged_ledger import accept, execute, fingerprint, make_ledger, new_scheduler, overwrite, refusal

Damage = Callable[[Path], object]
_PAGE = 4096


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def write_text(ledger: Path) -> None:
    ledger.write_text("# tasks\n0 3 * * * backup\n" * 50)


def make_another_programs_database(ledger: Path) -> None:
    with closing(sqlite3.connect(ledger)) as connection:
        connection.executescript("CREATE TABLE task (id, name); INSERT INTO task VALUES (1, 'theirs')")


def make_another_programs_database_in_use(ledger: Path) -> None:
    """Leave a write-ahead log with content behind, as a program does that was killed."""
    original = ledger.with_name("original")
    with closing(sqlite3.connect(original)) as connection:
        connection.executescript("PRAGMA journal_mode=WAL; CREATE TABLE task (id); INSERT INTO task VALUES (1)")
        for tail in ("", "-wal"):
            ledger.with_name(f"{ledger.name}{tail}").write_bytes(original.with_name(f"original{tail}").read_bytes())
    original.unlink()


def cut_to(size: int) -> Damage:
    def cut(ledger: Path) -> None:
        make_ledger(ledger)
        os.truncate(ledger, size)

    return cut


def changed_by(*statements: str) -> Damage:
    def change(ledger: Path) -> None:
        make_ledger(ledger)
        execute(ledger, *statements)

    return change


def overwritten_at(offset: int, count: int = 16) -> Damage:
    def damage(ledger: Path) -> None:
        make_ledger(ledger)
        overwrite(ledger, offset, count)

    return damage


FOREIGN_OR_DAMAGED: dict[str, tuple[Damage, str]] = {
    "a text file": (write_text, "not a Kron ledger"),
    "one byte": (cut_to(1), "not a Kron ledger"),
    "a database of another program": (make_another_programs_database, "another program"),
    "a database of another program that was killed": (make_another_programs_database_in_use, "another program"),
    "a ledger cut inside its header": (cut_to(50), "another program"),
    "a ledger cut after its header": (cut_to(100), "damaged"),
    "a ledger cut after its first page": (cut_to(_PAGE), "damaged"),
    "a ledger cut in the middle": (cut_to(3 * _PAGE + 100), "damaged"),
    "a ledger with another page size": (overwritten_at(16, 2), "damaged"),
    "a ledger of a later version": (changed_by("PRAGMA user_version=2"), "later version"),
    "a ledger without its runs": (changed_by("DROP TABLE run"), "table is missing"),
    "a ledger without its tasks": (changed_by("DROP TABLE task"), "table is missing"),
    "a name that is no text": (changed_by("UPDATE task SET name = CAST(x'ff' AS TEXT) WHERE id = 1"), "cannot be read"),
}


@pytest.mark.parametrize(("damage", "reason"), FOREIGN_OR_DAMAGED.values(), ids=FOREIGN_OR_DAMAGED.keys())
def test_a_file_that_is_no_sound_ledger_is_refused_and_left_untouched(
    ledger: Path, damage: Damage, reason: str
) -> None:
    damage(ledger)
    before = fingerprint(ledger)

    error = refusal(new_scheduler(ledger))

    assert type(error) is LedgerUnusableError
    assert str(ledger) in str(error)
    assert reason in str(error)
    assert fingerprint(ledger) == before


def test_a_ledger_with_a_damaged_page_is_refused_wherever_the_page_is(ledger: Path) -> None:
    make_ledger(ledger)
    sound = ledger.read_bytes()
    for offset in range(_PAGE, len(sound), _PAGE):
        ledger.write_bytes(sound)
        overwrite(ledger, offset)
        before = fingerprint(ledger)

        error = refusal(new_scheduler(ledger))

        assert type(error) is LedgerUnusableError, offset
        assert fingerprint(ledger) == before, offset


@pytest.mark.parametrize("version", [0, -1])
def test_a_ledger_of_a_version_that_never_was_is_refused(ledger: Path, version: int) -> None:
    changed_by(f"PRAGMA user_version={version}")(ledger)
    before = fingerprint(ledger)

    error = refusal(new_scheduler(ledger))

    assert type(error) is LedgerUnusableError
    assert fingerprint(ledger) == before


def test_a_directory_is_refused(ledger: Path) -> None:
    ledger.mkdir()

    error = refusal(new_scheduler(ledger))

    assert type(error) is LedgerUnusableError
    assert f"{ledger} cannot be used: it is a directory" in str(error)
    assert [*ledger.iterdir()] == []


def test_a_path_into_a_folder_that_is_not_there_is_refused(ledger: Path) -> None:
    error = refusal(new_scheduler(ledger / "deeper"))

    assert type(error) is LedgerUnusableError
    assert str(ledger) in str(error)
    assert not ledger.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything: an unreadable ledger was NOT tried")
def test_an_unreadable_ledger_is_refused(ledger: Path) -> None:
    make_ledger(ledger)
    ledger.chmod(0)

    error = refusal(new_scheduler(ledger))

    assert type(error) is LedgerUnusableError
    assert str(ledger) in str(error)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere: a folder without permission was NOT tried")
def test_a_ledger_in_a_folder_without_permission_is_refused(ledger: Path) -> None:
    ledger.parent.chmod(0o500)

    error = refusal(new_scheduler(ledger))

    assert type(error) is LedgerUnusableError
    assert str(ledger) in str(error)


def test_an_empty_file_is_a_new_ledger(ledger: Path) -> None:
    ledger.touch()

    accept(new_scheduler(ledger))

    assert ledger.stat().st_size > 0


def test_a_column_more_than_is_known_does_no_harm(ledger: Path) -> None:
    changed_by("ALTER TABLE task ADD COLUMN colour TEXT")(ledger)

    accept(new_scheduler(ledger))


@pytest.mark.parametrize("damage", [write_text, cut_to(3 * _PAGE + 100)], ids=["a text file", "a ledger that was cut"])
def test_a_scheduler_that_was_refused_can_be_initialised_again(ledger: Path, damage: Damage) -> None:
    damage(ledger)
    scheduler = new_scheduler(ledger)
    refusal(scheduler)

    for path in ledger.parent.iterdir():
        path.unlink()

    accept(scheduler)
