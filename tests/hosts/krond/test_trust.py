"""Who may have written a job file: asked of the opened file, and refused rather than repaired."""

import os
from pathlib import Path

import pytest

from kron.hosts.krond.job_files import load_jobs
from kron.hosts.krond.trust import FileRefusedError, read_trusted
from kron.rules.files.source import Surroundings

CONTENT = b'[jobs.a]\nschedule = "@daily"\ncommand = "true"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "krond"
    folder.mkdir(mode=0o755)
    found = folder / "jobs.toml"
    found.write_bytes(CONTENT)
    found.chmod(0o644)
    return found


def refusal(file: Path) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as caught:
        read_trusted(str(file))
    return caught.value


def test_a_file_that_only_its_owner_may_write_is_read(file: Path) -> None:
    assert read_trusted(str(file)) == (CONTENT, [])


def test_a_file_that_everybody_may_write_is_refused(file: Path) -> None:
    file.chmod(0o646)

    assert refusal(file).fix == f"chmod o-w {file}"


def test_a_file_that_its_group_may_write_is_doubtful(file: Path) -> None:
    file.chmod(0o664)

    ((message, _),) = read_trusted(str(file))[1]
    assert message.startswith("may be written by its group")


def test_a_link_is_refused(file: Path) -> None:
    link = file.with_name("link.toml")
    link.symlink_to(file)

    assert refusal(link).reason == "is a link"


def test_a_link_in_a_directory_above_is_followed(file: Path) -> None:
    link = file.parent.with_name("link")
    link.symlink_to(file.parent)

    assert read_trusted(str(link / file.name))[0] == CONTENT


def test_a_pipe_is_refused_at_once(file: Path) -> None:
    pipe = file.with_name("pipe.toml")
    os.mkfifo(pipe)

    assert refusal(pipe).reason == "is not a regular file"


def test_a_directory_is_no_file(file: Path) -> None:
    assert refusal(file.parent).reason == "is not a regular file"


def test_a_file_in_a_directory_that_everybody_may_write_to_is_refused(file: Path) -> None:
    file.parent.chmod(0o777)

    assert refusal(file).reason == f"lies in {file.parent}, which everybody may write to"


def test_in_a_directory_with_the_sticky_bit_others_cannot_replace_a_file(file: Path) -> None:
    file.parent.chmod(0o1777)

    assert read_trusted(str(file))[0] == CONTENT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(file: Path) -> None:
    os.chown(file, 65534, 65534)

    assert refusal(file).reason == "belongs to uid 65534"


def test_a_refused_file_is_an_error_of_the_check_and_hides_no_other(file: Path) -> None:
    file.chmod(0o646)
    other = file.with_name("other.toml")
    other.write_bytes(CONTENT)

    loaded = load_jobs([str(file), str(other)], here=Surroundings())

    assert [(finding.level, finding.file, finding.line) for finding in loaded.findings] == [("error", str(file), 1)]
    assert [job.file for job in loaded.job_set.jobs] == [str(other)]
    assert not loaded.ok


def test_permissions_need_not_be_asked(file: Path) -> None:
    file.chmod(0o666)

    assert load_jobs([str(file)], permissions=False, here=Surroundings()).ok
