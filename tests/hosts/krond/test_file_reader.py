"""Job files read in a separate process give the same jobs as in this one."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kron.errors import ControlError
from kron.hosts.krond.file_reader import (
    ReadRequest,
    ReadResult,
    UnchangedJob,
    fingerprints,
    read_files,
    read_in_subprocess,
)
from kron.jobfile.host_job import HostJob
from kron.rules.job_spec import JobSpec

RIGHT = """
[krond]
timezone = "Europe/Paris"

[jobs.backup]
identity = "backup"
schedule = "0 3 * * *"
window = "after,1h"
only = "dow=MON-FRI"
command = ["/bin/true"]
on_failure = ["https://example.org/"]

[jobs.boot]
schedule = "@reboot"
command = "/bin/true"
"""


def write(folder: Path, text: str = RIGHT) -> ReadRequest:
    file = folder / "jobs.toml"
    file.write_text(text, "utf-8")
    file.chmod(0o600)
    return ReadRequest([str(file)], None)


def works(asked: ReadRequest) -> list[JobSpec]:
    return [each for each in read_files(asked).jobs if isinstance(each, JobSpec)]


def test_the_jobs_and_settings_are_the_same(tmp_path: Path) -> None:
    asked = write(tmp_path)

    here, there = read_files(asked), read_in_subprocess(asked)

    assert (there.settings, there.findings, there.failed_files) == (here.settings, here.findings, {})
    pairs = list(zip(here.jobs, there.jobs, strict=True))
    assert len(pairs) == 2
    for left, right in pairs:
        assert isinstance(left, JobSpec)
        assert isinstance(right, JobSpec)
        assert (left, left.definition_key, left.payload) == (right, right.definition_key, right.payload)
        assert isinstance(right.payload, HostJob)
        assert right.payload.line == left.payload.line  # type: ignore[attr-defined]


def test_a_file_with_errors_has_the_same_findings_and_no_jobs(tmp_path: Path) -> None:
    asked = write(tmp_path, RIGHT.replace("0 3 * * *", "0 25 * * *"))

    here, there = read_files(asked), read_in_subprocess(asked)

    assert there.findings == here.findings
    assert any(finding.level == "error" for finding in there.findings)
    assert (list(there.failed_files), list(there.jobs)) == ([asked.configs[0]], [])


@pytest.mark.parametrize("read", [read_files, read_in_subprocess])
def test_a_file_with_errors_takes_no_jobs_from_another_file(
    tmp_path: Path, read: Callable[[ReadRequest], ReadResult]
) -> None:
    asked = write(tmp_path)
    other = tmp_path / "other.toml"
    good = '[jobs.good]\nschedule = "@daily"\ncommand = "true"\n'
    other.write_text(f'[jobs.bad]\nschedule = "61 * * * *"\ncommand = "true"\n{good}', "utf-8")
    other.chmod(0o600)

    found = read(ReadRequest([str(other), *asked.configs], None))

    assert found.is_usable
    assert {file: [finding.line for finding in errors] for file, errors in found.failed_files.items()} == {
        str(other): [2]
    }
    assert [job.identity for job in found.jobs] == [work.identity for work in works(asked)]


@pytest.mark.parametrize(
    ("text", "is_readable"),
    [
        ("[krond]\nslck = '1s'\n", False),
        ("krond = 5\n", False),
        ("[krond]\nslack = '1s'\n[jobs.a]\n", True),
        ("[krond\n", False),
        ("[jobs.a\n[krond]\n", False),
        ("krond.slack = '1s'\n[jobs.a\n", False),
        ("[jobs.a\n# [krond]\n", True),
        ("[jobs.a]\nkrond = \n", True),
        ("[jobs.krond\n", True),
    ],
)
def test_settings_are_unreadable_only_if_the_file_names_them(tmp_path: Path, text: str, *, is_readable: bool) -> None:
    found = read_files(write(tmp_path, text))

    assert (found.settings_are_readable, found.is_usable) == (is_readable, is_readable)
    assert found.failed_files


def test_one_bad_file_refuses_all_if_the_settings_say_so(tmp_path: Path) -> None:
    asked = write(tmp_path, "[krond]\non_invalid = 'refuse'\n")
    assert read_files(asked).is_usable

    assert not read_files(asked._replace(configs=[*asked.configs, "/does/not/exist.toml"])).is_usable


def test_a_known_job_is_only_named(tmp_path: Path) -> None:
    asked = write(tmp_path)
    backup, boot = works(asked)
    known = fingerprints([backup, boot])

    write(tmp_path, "# moved\n" + RIGHT.replace("1h", "2h"))

    changed, same = read_in_subprocess(asked._replace(known=known)).jobs
    assert isinstance(same, UnchangedJob)
    assert same.identity == boot.identity
    assert isinstance(changed, JobSpec)
    assert changed.identity == backup.identity


def test_a_job_with_the_same_meaning_in_another_form_is_only_named(tmp_path: Path) -> None:
    asked = write(tmp_path)
    backup, boot = works(asked)
    known = fingerprints([backup, boot])

    write(
        tmp_path,
        RIGHT.replace('"after,1h"', '{duration = "60m", mode = "after"}').replace('"/bin/true"\n', '["/bin/true"]\n'),
    )

    found = read_in_subprocess(asked._replace(known=known)).jobs
    assert [(type(each), each.identity) for each in found] == [
        (UnchangedJob, backup.identity),
        (UnchangedJob, boot.identity),
    ]


def test_a_known_job_has_its_file_and_line(tmp_path: Path) -> None:
    asked = write(tmp_path)
    backup, boot = works(asked)

    write(tmp_path, "# moved\n" + RIGHT.replace("only = ", "# and inside\nonly = "))

    same, moved = read_in_subprocess(asked._replace(known=fingerprints([backup, boot]))).jobs
    assert isinstance(same, UnchangedJob)
    assert isinstance(moved, UnchangedJob)
    job, other = backup.payload, boot.payload
    assert isinstance(job, HostJob)
    assert isinstance(other, HostJob)
    assert (same.of(job).line, same.of(job).line_of("only")) == (job.line + 1, job.line_of("only") + 2)
    assert (moved.of(other), moved.of(other).line) == (other, other.line + 2)


@pytest.mark.parametrize(("before", "after"), [("[jobs.backup]", "[jobs.save]"), ('"Europe/Paris"', '"Europe/Berlin"')])
def test_another_name_or_another_zone_makes_it_another_one(tmp_path: Path, before: str, after: str) -> None:
    asked = write(tmp_path)
    known = fingerprints(works(asked))

    write(tmp_path, RIGHT.replace(before, after))

    assert isinstance(next(read_in_subprocess(asked._replace(known=known)).jobs), JobSpec)


@pytest.mark.parametrize(
    "command", [["/no/such/program"], ["/bin/false"], [sys.executable, "-c", "print('no pickle')"]]
)
def test_a_process_that_fails_is_one_clear_error(tmp_path: Path, command: list[str]) -> None:
    with pytest.raises(ControlError, match="the process that reads the job files has failed: "):
        read_in_subprocess(write(tmp_path), command=command)


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_a_reader_whose_krond_has_died_ends_silently(tmp_path: Path, part: float) -> None:
    question = pickle.dumps(write(tmp_path))
    command = [sys.executable, "-c", "from kron.hosts.krond.file_reader import main; main()"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stderr is not None
        reader.stdout.close()
        reader.stdin.write(question[: int(part * len(question))])
        reader.stdin.close()

        assert reader.stderr.read() == b""


def test_a_reader_of_another_version_is_not_understood(tmp_path: Path) -> None:
    other = "import pickle, sys; pickle.dump('0.0.1', sys.stdout.buffer); sys.stdout.flush(); sys.stdin.buffer.read(1)"

    with pytest.raises(ControlError, match="krond was upgraded while it ran, and has to be restarted first"):
        read_in_subprocess(write(tmp_path), command=[sys.executable, "-c", other])


@pytest.mark.parametrize(
    "reads", ["import sys; sys.stdin.buffer.read(1)", "pass"], ids=["after it was asked", "at once"]
)
def test_a_reader_that_does_not_answer_is_given_up(tmp_path: Path, reads: str) -> None:
    command = [sys.executable, "-I", "-S", "-c", f"{reads}\nimport signal; signal.pause()"]
    asked = write(tmp_path)._replace(known=bytes(1_000_000))  # more than is sent before it is read

    with pytest.raises(ControlError, match=r"could not be read within 0\.2 s"):
        read_in_subprocess(asked, command=command, limit=0.2)
