"""A ledger whose file is removed while it is open loses no record, and stops writing to the removed file."""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kron.adapters.sqlite.job_check import check_ledger
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.errors import LedgerWriteError
from kron.testing.job_ledger_suite import DECLARED, FAILED, RUN, TRIGGERED
from tests.adapters.sqlite.sample_ledger import run_ids

BEGUN, MORE = DECLARED._replace(begun=[RUN]), DECLARED._replace(begun=[TRIGGERED])


def lived(path: Path, damage: Callable[[Path], object], repair: Callable[[Path], object] = lambda _: None) -> list[str]:
    """Append before and after the damage, twice, and once more after the repair; return what was said of each."""

    async def live() -> list[str]:
        ledger = SqliteJobLedger(path)
        await ledger.open()
        await ledger.append(BEGUN)
        damage(path)
        said = [await tried(ledger), await tried(ledger)]
        repair(path)
        said.append(await tried(ledger))
        await ledger.close()
        return said

    async def tried(ledger: SqliteJobLedger) -> str:
        try:
            await ledger.append(MORE)
        except LedgerWriteError as error:
            return str(error.details["reason"])
        return ""

    return asyncio.run(live())


@pytest.mark.parametrize(
    "tails", [[""], ["-wal"], ["", "-wal"], ["", "-wal", "-shm"], ["", "-wal", "-shm", ".lock"]], ids=str
)
def test_a_removed_file_is_written_again_and_the_next_append_succeeds(tmp_path: Path, tails: list[str]) -> None:
    path = tmp_path / "ledger.db"

    def remove(path: Path) -> None:
        for tail in tails:
            path.with_name(f"{path.name}{tail}").unlink()

    said = lived(path, remove)

    assert said == ["its file was removed; it was written again", "", ""]
    assert run_ids(path) == [RUN.run_id, TRIGGERED.run_id]
    assert check_ledger(path) == []
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_foreign_file_at_the_path_is_left_alone_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"

    def replace(path: Path) -> None:
        path.unlink()
        path.write_text("mine")

    said = lived(path, replace, lambda path: path.unlink())

    assert said[:2] == ["another file was put in its place"] * 2
    assert said[2] == "its file was removed; it was written again"
    assert run_ids(path) == [RUN.run_id]


def test_to_a_file_that_was_cut_off_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"

    said = lived(path, lambda path: path.write_bytes(b""))

    assert said == ["its file was cut off; it has to be restored"] * 3


@pytest.mark.parametrize("left", [1, 99, 100, 4096, 5000])
def test_a_file_that_was_cut_to_any_size_is_noticed(tmp_path: Path, left: int) -> None:
    path = tmp_path / "ledger.db"

    said = lived(path, lambda path: os.truncate(path, left))

    assert said == ["its file was cut off; it has to be restored"] * 3


@pytest.mark.parametrize("left", [0, 32, 5000])
def test_a_log_that_was_cut_is_noticed(tmp_path: Path, left: int) -> None:
    said = lived(tmp_path / "ledger.db", lambda path: os.truncate(f"{path}-wal", left))

    assert said == ["its file was cut off; it has to be restored"] * 3


@pytest.mark.parametrize("statement", ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM"])
def test_a_permitted_change_of_the_file_by_another_process_is_no_damage(tmp_path: Path, statement: str) -> None:
    def tidy(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    assert lived(tmp_path / "ledger.db", tidy) == ["", "", ""]


def test_a_lock_that_another_process_has_made_keeps_the_ledger_from_being_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"

    def replace(path: Path) -> None:
        Path(f"{path}.lock").unlink()
        Path(f"{path}.lock").write_text("1\n")

    said = lived(path, replace)

    assert said == ["its lock was removed, and process 1 has made another; stop it and restart"] * 3
    assert run_ids(path) == [RUN.run_id]


def test_without_its_folder_nothing_is_written_until_there_is_one(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()

    said = lived(folder / "ledger.db", lambda _: folder.rename(tmp_path / "away"), lambda _: folder.mkdir())

    assert said[:2] == [f"its lock {folder / 'ledger.db.lock'} cannot be opened: No such file or directory"] * 2
    assert said[2] == "its file was removed; it was written again"


def test_later_records_are_kept_as_if_nothing_had_happened(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    lived(path, Path.unlink)

    async def live() -> int:
        ledger = SqliteJobLedger(path)
        await ledger.open()
        await ledger.append(DECLARED._replace(ended=[FAILED]))
        unfinished = (await ledger.load()).unfinished
        await ledger.close()
        return len(unfinished)

    assert asyncio.run(live()) == 1
