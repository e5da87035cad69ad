"""krond run --watch detects changes by inotify and by snapshots of the files."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kron.hosts.krond.commands.control import connect
from kron.hosts.krond.file_watch import (
    KernelChanges,
    find_watched_directories,
    take_snapshot,
)
from tests.hosts.krond.krond_process import NEVER, Krond
from tests.hosts.krond.test_file_watch import in_a_loop

# --- what the kernel reports ------------------------------------------------------------------------------------------

TEXT = f"[jobs.a]\n{NEVER}\ncommand = 'true'\n"


def mount(folder: Path, version: str, text: str = TEXT) -> None:
    """Write files as Kubernetes does: into a new directory, to which `..data` then leads."""
    folder.mkdir(exist_ok=True)
    (folder / version).mkdir()
    (folder / version / "jobs.toml").write_text(text, "utf-8")
    (folder / "..new").symlink_to(version)
    (folder / "..new").rename(folder / "..data")
    if not (folder / "jobs.toml").is_symlink():
        (folder / "jobs.toml").symlink_to("..data/jobs.toml")


def rewrite(folder: Path) -> None:
    (folder / "a.toml").write_text("# other\n", "utf-8")


def replace(folder: Path) -> None:
    (folder / ".a.toml.swp").write_text("# other\n", "utf-8")
    (folder / ".a.toml.swp").rename(folder / "a.toml")


def swap(folder: Path) -> None:
    (folder / "mounted" / "..new").rename(folder / "mounted" / "..data")


def remake(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    rewrite(folder)


def add_below(folder: Path) -> None:
    (folder / "cron.d" / "more").write_text("# none\n", "utf-8")


CHANGES = [
    rewrite,
    replace,
    swap,
    remake,
    add_below,
    lambda folder: (folder / "a.toml").chmod(0o600),
    lambda folder: (folder / "a.toml").unlink(),
    lambda folder: (folder / "new.toml").write_text("", "utf-8"),
    lambda folder: folder.chmod(0o700),
    lambda folder: folder.rename(folder.with_name("gone")),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "jobs"
    for each in (made, made / "cron.d"):
        each.mkdir(mode=0o755)
    (made / "a.toml").write_text(TEXT, "utf-8")
    mount(made / "mounted", "..1")
    shutil.copytree(made / "mounted" / "..1", made / "mounted" / "..2")
    (made / "mounted" / "..new").symlink_to("..2")  # for `swap`
    return made


def given(folder: Path) -> list[str]:
    return [str(folder), str(folder / "mounted" / "jobs.toml")]


@pytest.mark.parametrize("change", CHANGES)
@in_a_loop
async def test_a_change_is_reported_by_the_kernel_and_by_a_snapshot(
    folder: Path, change: Callable[[Path], object]
) -> None:
    reported = asyncio.Event()
    changes = KernelChanges(reported.set)
    changes.follow(find_watched_directories(given(folder), None))
    before = take_snapshot(given(folder), None)

    change(folder)

    async with asyncio.timeout(60):
        await reported.wait()
    changes.close()
    assert take_snapshot(given(folder), None) != before


@in_a_loop
async def test_other_files_in_the_directory_are_no_change(folder: Path) -> None:
    reported = asyncio.Event()
    changes = KernelChanges(reported.set)
    changes.follow(find_watched_directories(given(folder), None))
    before = take_snapshot(given(folder), None)

    (folder / "notes.txt").write_text("text", "utf-8")
    (folder.parent / "other").mkdir()
    changes._on_readable()

    changes.close()
    assert not reported.is_set()
    assert take_snapshot(given(folder), None) == before


@in_a_loop
async def test_a_directory_that_is_made_again_is_reported_and_followed(folder: Path) -> None:
    reported = asyncio.Event()
    changes = KernelChanges(reported.set)
    changes.follow(find_watched_directories(given(folder), None))
    for change in (shutil.rmtree, Path.mkdir, rewrite):
        changes.follow(find_watched_directories(given(folder), None))
        changes._on_readable()
        reported.clear()

        change(folder)

        async with asyncio.timeout(60):
            await reported.wait()
    changes.close()


# --- a krond ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def krond(tmp_path: Path, folder: Path) -> Iterator[Krond]:
    daemon = Krond(tmp_path, "[krond]\nwatch = true\n", options=("--config", str(folder / "mounted")))
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


def wait_until_read(krond: Krond, *commands: str) -> None:
    """Return when krond has reloaded to jobs with these commands, in the order of their names."""
    found: list[str] = []
    while found != list(commands):
        krond.wait_for("Reloaded")
        with connect(krond.state) as client:
            found = [each["description"] for each in sorted(client.ask("jobs"), key=lambda job: str(job["name"]))]


def job(name: str, description: str) -> str:
    return f"[jobs.{name}]\n{NEVER}\ncommand = 'true'\ndescription = '{description}'\n"


@pytest.mark.slow
def test_krond_reads_files_again_when_they_change(krond: Krond, folder: Path) -> None:
    krond.start()

    (folder / "mounted" / "..new").unlink()
    mount(folder / "mounted", "..3", job("a", "changed"))
    wait_until_read(krond, "changed")

    mount(folder / "mounted", "..4", "[jobs.a\n")
    assert krond.wait_for("FileFailed")["file"] == str(folder / "mounted" / "jobs.toml")
    wait_until_read(krond, "changed")
    krond.wait_for("ReloadFailed")

    shutil.rmtree(folder / "mounted")
    mount(folder / "mounted", "..5", job("a", "repaired") + job("b", "new"))
    wait_until_read(krond, "repaired", "new")

    with krond.file.open("a") as file:  # in two halves
        file.write("[jobs.c]\n")
        file.flush()
        file.write(job("c", "whole").partition("\n")[2])
    wait_until_read(krond, "repaired", "new", "whole")

    krond.write("[krond]\nwatch = false\n")  # the last change that is noticed
    wait_until_read(krond, "repaired", "new")
    krond.write(job("c", "unseen"))
    assert krond.json("reload")["added"] == [f"{krond.file}:c"]
