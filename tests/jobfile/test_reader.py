"""Several files of one host: colliding identities, settings and defaults."""

from datetime import timedelta

import pytest

from kron.jobfile.reader import JobSet, read_job_set
from kron.jobfile.settings import SETTINGS, Settings
from tests.jobfile.job_sets import HERE, read, source

JOB = '[jobs.a]\nschedule = "@daily"\ncommand = "true"\n'


def read_all(*texts: tuple[str, str]) -> JobSet:
    return read_job_set([source(text, path.rpartition(".")[2], path) for path, text in texts], HERE)


def test_jobs_come_in_the_order_of_their_files() -> None:
    found = read_all(("/b.toml", JOB), ("/a.kron", "@daily name=z command=true\n@daily name=y command=true"))

    assert [job.identity for job in found.jobs] == ["/b.toml:a", "/a.kron:z", "/a.kron:y"]


def test_two_jobs_of_one_identity_are_an_error_wherever_they_are() -> None:
    same = '@daily name=b command=true identity="/x.toml:a"'

    found = read_all(("/x.toml", JOB), ("/y.kron", same))

    (finding,) = found.findings
    assert (finding.file, finding.line, finding.field) == ("y.kron", 1, "identity")
    assert "is also that of a at x.toml:1" in finding.message
    assert [job.identity for job in found.jobs] == ["/x.toml:a"]


def test_names_may_stand_in_several_files() -> None:
    found = read_all(("/x.toml", JOB), ("/y.toml", JOB))

    assert found.findings == ()
    assert [job.identity for job in found.jobs] == ["/x.toml:a", "/y.toml:a"]


def test_defaults_hold_in_their_own_file() -> None:
    found = read_all(("/x.toml", f'[defaults]\nuser = "ann"\n{JOB}'), ("/y.toml", JOB))

    assert [job.command.user for job in found.jobs] == ["ann", ""]


def test_errors_of_all_files_are_reported_by_file_and_line() -> None:
    found = read_all(("/y.toml", "x = 1"), ("/x.kron", "61 * * * * name=a command=true\nx"))

    assert [(finding.file, finding.line) for finding in found.findings] == [("x.kron", 1), ("x.kron", 2), ("y.toml", 1)]


# --- settings ---------------------------------------------------------------------------------------------------------


def test_settings_have_defaults() -> None:
    assert read("").settings == Settings()
    assert Settings().retention == Settings().output_retention == timedelta(days=90)


def test_settings_are_read() -> None:
    text = """[krond]
state = "/srv/krond"
listen = "127.0.0.1:0"
token_file = "/srv/token"
retention = "1d12h"
output_retention = "30d"
max_active = 10
timezone = "Asia/Tokyo"
slack = "5s"
drain_timeout = "10m"
"""

    assert read(text).settings == Settings(
        "/srv/krond", "127.0.0.1:0", "/srv/token", timedelta(hours=36), timedelta(days=30), 10, "Asia/Tokyo",
        timedelta(seconds=5), timedelta(minutes=10),
    )  # fmt: skip


def test_output_is_kept_as_long_as_history_unless_said() -> None:
    assert read('[krond]\nretention = "7d"').settings.output_retention == timedelta(days=7)


def test_the_zone_of_the_settings_is_that_of_jobs_in_all_files_that_name_none() -> None:
    found = read_all(
        ("/a.kron", "@daily name=a command=true\n@daily @tz(UTC) name=b command=true"),
        ("/b.toml", f'[krond]\ntimezone = "Asia/Tokyo"\n{JOB}'),
    )

    assert [job.timezone for job in found.jobs] == ["Asia/Tokyo", "UTC", "Asia/Tokyo"]


def test_settings_of_several_files_are_one_and_say_nothing_twice() -> None:
    found = read_all(("/a.toml", '[krond]\nslack = "1s"'), ("/b.toml", '[krond]\nmax_active = 3\nslack = "1s"'))

    assert (found.settings.slack, found.settings.max_active) == (timedelta(seconds=1), 3)
    (finding,) = found.findings
    assert (finding.file, finding.line, finding.field) == ("b.toml", 3, "krond.slack")
    assert "is said twice, first at a.toml:2" in finding.message


WRONG = {
    "state": ['"relative"', "1"],
    "listen": ['"8080"', '"host:99999"', '"unix:relative"', "8080", '":80"'],
    "token_file": ['"relative"'],
    "retention": ["90", '"90 days"', '"d"', '"1dd"'],
    "output_retention": ['"-1d"'],
    "max_active": ["-1", '"many"'],
    "timezone": ['"Mars/Phobos"'],
    "slack": ["30"],
    "drain_timeout": ["true"],
    "on_invalid": ['"ignore"', "false"],
    "watch": ['"yes"', "1"],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG.items() for value in values])
def test_a_wrong_setting_is_one_error_at_its_key(key: str, value: str) -> None:
    (finding,) = read(f"[krond]\n{key} = {value}").findings

    assert (finding.level, finding.line, finding.field) == ("error", 2, f"krond.{key}")


def test_every_setting_has_been_tried() -> None:
    assert set(WRONG) == set(SETTINGS) == set(Settings.__slots__) - {"places"}


@pytest.mark.parametrize("listen", ["off", "unix:/run/x", "localhost:80", "[::1]:8080"])
def test_a_listener_may_be_an_address_a_socket_or_none(listen: str) -> None:
    assert read(f'[krond]\nlisten = "{listen}"').settings.listen == listen
