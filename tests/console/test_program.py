"""Errors in files that a user named: one line that names the file, and exit code 2."""

import errno
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kron.console.program import file_errors


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def read(file: Path) -> None:
    with file_errors(file):
        file.read_bytes().decode()


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "No such file or directory"), (b"ab\xff", "is not UTF-8 at byte 2")]
)
def test_a_file_that_cannot_be_read_is_wrong_usage(content: bytes | None, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "jobs"
    if content is not None:
        file.write_bytes(content)

    result = CliRunner().invoke(read, [str(file)])

    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"Error: {file}: {reason}"


def test_an_error_without_the_words_of_the_system_says_its_own() -> None:
    with pytest.raises(click.UsageError, match=r"^jobs: it hangs$"), file_errors("jobs"):
        raise OSError("it hangs")


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), file_errors("jobs"):
        raise ZeroDivisionError(errno.ENOENT)
