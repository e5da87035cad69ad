"""`.kron` files: one job a line, all errors at once."""

from kron.rules.job_file import JobFile, read_job_file


def read(text: str) -> JobFile:
    return read_job_file(text, file="jobs.kron", source="/etc/jobs.kron")


def test_jobs_keep_their_line_numbers_and_take_their_identity_from_the_path() -> None:
    found = read("# comment\n\n@daily name=a command=true\n  # another\n@hourly name=b command=true\n")

    assert [(number, job.identity) for number, job in found.jobs] == [(3, "/etc/jobs.kron:a"), (5, "/etc/jobs.kron:b")]
    assert found.findings == ()


def test_lines_may_end_as_on_windows() -> None:
    found = read("@daily name=a command=true\r\n\r\n@hourly name=b command=true\r\n")

    assert [job.name for _, job in found.jobs] == ["a", "b"]


def test_a_wrong_line_hides_neither_the_others_nor_their_errors() -> None:
    found = read(
        "61 * * * * name=a command=true\n@daily name=b command=true\n@daily name=b command=true\n@daily name=c\n"
    )

    assert [job.name for _, job in found.jobs] == ["b"]
    assert [(finding.line, finding.field) for finding in found.findings] == [(1, "minute"), (3, "name"), (4, "command")]


def test_a_file_that_is_no_job_file_is_refused_without_being_read_line_by_line() -> None:
    found = read("x\n" * 9_000_000)

    assert found.jobs == ()
    assert [finding.field for finding in found.findings] == ["file"]
