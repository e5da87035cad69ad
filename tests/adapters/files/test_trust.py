"""The trust check of job files: an opened file is refused if other users can write it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kron.adapters.files.job_files import load_jobs, read_job_files
from kron.adapters.files.trust import UntrustedFileError, read_trusted_file
from kron.jobfile.job_file import HostInfo
from tests.adapters.process.recorded_runner import needs_root
from tests.mounts import mounted_disk, remount

CONTENT = b'[jobs.a]\nschedule = "@daily"\ncommand = "true"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "krond"
    folder.mkdir(mode=0o755)
    found = folder / "jobs.toml"
    found.write_bytes(CONTENT)
    found.chmod(0o644)
    return found


def refusal(file: Path) -> UntrustedFileError:
    with pytest.raises(UntrustedFileError) as caught:
        read_trusted_file(str(file))
    return caught.value


def test_a_file_that_only_its_owner_may_write_is_read(file: Path) -> None:
    assert read_trusted_file(str(file)) == (CONTENT, [])


def test_a_file_that_everybody_may_write_is_refused(file: Path) -> None:
    file.chmod(0o646)

    assert refusal(file).fix == f"chmod o-w {file}"


def test_a_file_that_its_group_may_write_is_doubtful(file: Path) -> None:
    file.chmod(0o664)

    ((message, _),) = read_trusted_file(str(file))[1]
    assert message.startswith("is group-writable")


def test_a_link_to_a_trusted_file_is_followed(file: Path) -> None:
    for name, target in (("absolute.toml", file), ("relative.toml", f"../{file.parent.name}/{file.name}")):
        link = file.with_name(name)
        link.symlink_to(target)

        assert read_trusted_file(str(link))[0] == CONTENT


def test_links_in_a_circle_end_with_an_error(file: Path) -> None:
    link = file.with_name("circle.toml")
    link.symlink_to(link)

    with pytest.raises(OSError, match="symbolic links"):
        read_trusted_file(str(link))


def test_a_link_into_a_world_writable_directory_is_refused(file: Path) -> None:
    link = file.parent.with_name("link.toml")
    link.symlink_to(file)
    file.parent.chmod(0o777)

    assert refusal(link).reason == f"is in {file.parent}, which is world-writable"


@needs_root
def test_a_link_of_another_user_is_refused(file: Path) -> None:
    link = file.with_name("link.toml")
    link.symlink_to(file)
    os.chown(link, 65534, 65534, follow_symlinks=False)

    assert refusal(link).reason == f"is reached by the link {link} of uid 65534"


@needs_root
def test_a_file_below_a_directory_of_another_user_is_refused(file: Path) -> None:
    below = file.parent / "below"
    below.mkdir()
    moved = file.rename(below / file.name)
    os.chown(file.parent, 65534, 65534)

    assert refusal(moved).reason == f"is in {file.parent}, which belongs to uid 65534"


def test_a_file_below_a_world_writable_directory_is_refused(file: Path) -> None:
    below = file.parent / "below"
    below.mkdir(mode=0o755)
    moved = file.rename(below / file.name)
    file.parent.chmod(0o777)

    assert refusal(moved).fix == f"chmod o-w {file.parent}"


def config_map(folder: Path, *, version: str = "..2026_03_02") -> None:
    """Fill a directory as Kubernetes fills a volume: files are links into the directory that `..data` leads to."""
    (folder / version).mkdir(mode=0o755)
    (folder / version / "jobs.toml").write_bytes(CONTENT)
    (folder / version / "jobs.toml").chmod(0o644)
    (folder / "..data").symlink_to(version)
    (folder / "jobs.toml").symlink_to("..data/jobs.toml")


def test_a_mounted_config_map_is_read_once_under_its_own_path(tmp_path: Path) -> None:
    folder = tmp_path / "mounted"
    folder.mkdir(mode=0o755)
    config_map(folder)

    loaded = load_jobs([str(folder)], here=HostInfo())

    assert loaded.ok
    assert [job.identity for job in loaded.job_set.jobs] == [f"{folder}/jobs.toml:a"]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A mounted directory of mode 0777 that is read-only, as that of a ConfigMap."""
    folder = tmp_path / "volume"
    folder.mkdir()
    with mounted_disk(folder, "size=1m,mode=0777"):
        config_map(folder)
        remount(folder, "ro")
        yield folder


def test_a_world_writable_directory_on_a_read_only_mount_is_trusted(read_only: Path) -> None:
    assert read_only.stat().st_mode & 0o777 == 0o777

    assert read_trusted_file(str(read_only / "jobs.toml"))[0] == CONTENT


def test_a_link_in_a_directory_above_is_followed(file: Path) -> None:
    link = file.parent.with_name("link")
    link.symlink_to(file.parent)

    assert read_trusted_file(str(link / file.name))[0] == CONTENT


def test_a_pipe_is_refused_at_once(file: Path) -> None:
    pipe = file.with_name("pipe.toml")
    os.mkfifo(pipe)

    assert refusal(pipe).reason == "is not a regular file"


@needs_root
def test_a_file_that_has_nothing_to_read_yet_is_unreadable(file: Path) -> None:
    link = file.with_name("kernel.toml")
    link.symlink_to("/proc/kmsg")
    with suppress(OSError):
        while read_trusted_file(str(link))[0]:  # what is there already
            pass

    opened = read_job_files([str(link)])

    assert (opened.sources, opened.unreadable) == ([], True)


def test_a_directory_is_no_file(file: Path) -> None:
    assert refusal(file.parent).reason == "is not a regular file"


def test_a_file_in_a_directory_that_everybody_may_write_to_is_refused(file: Path) -> None:
    file.parent.chmod(0o777)

    assert refusal(file).reason == f"is in {file.parent}, which is world-writable"


def test_in_a_directory_with_the_sticky_bit_others_cannot_replace_a_file(file: Path) -> None:
    file.parent.chmod(0o1777)

    assert read_trusted_file(str(file))[0] == CONTENT


@needs_root
def test_a_file_of_another_user_is_refused(file: Path) -> None:
    os.chown(file, 65534, 65534)

    assert refusal(file).reason == "belongs to uid 65534"


def test_a_refused_file_is_an_error_of_the_check_and_hides_no_other(file: Path) -> None:
    file.chmod(0o646)
    other = file.with_name("other.toml")
    other.write_bytes(CONTENT)

    loaded = load_jobs([str(file), str(other)], here=HostInfo())

    assert [(finding.level, finding.file, finding.line) for finding in loaded.findings] == [("error", str(file), 1)]
    assert [job.file for job in loaded.job_set.jobs] == [str(other)]
    assert not loaded.ok


def test_permissions_need_not_be_asked(file: Path) -> None:
    file.chmod(0o666)

    assert load_jobs([str(file)], permissions=False, here=HostInfo()).ok
