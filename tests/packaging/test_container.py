"""krond in a container, as far as namespaces allow; the image is not built here."""

import re
from collections.abc import Iterator

import pytest

from tests.commands import command_of
from tests.packaging.containerfile import Containerfile
from tests.packaging.sandbox import UNPRIVILEGED, Sandbox, why_not

FILE = Containerfile("packaging/Containerfile")
NEVER = 'schedule = "0 0 29 2 *"'  # so that only triggers run
JOBS = f"""
[defaults]
shell = true
cwd = "/"
timeout = "1m"
[jobs.who]
{NEVER}
command = "id -u; id -G; touch /etc/written /tmp/written /var/tmp/written && echo written"
[jobs.orphan]
{NEVER}
command = "left=$(sh -c 'true > /dev/null & echo $!'); while kill -0 $left 2> /dev/null; do sleep 0.05; done"
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    if reason := why_not():
        pytest.skip(f"krond as process 1 of a namespace was NOT tested here: {reason}")
    krond = Sandbox(JOBS)
    try:
        krond.start()
        yield krond
        krond.ask("stop", "--now")
        krond.end()
    finally:
        krond.remove()


@pytest.mark.slow
def test_krond_is_process_1_and_answers_the_health_check(sandbox: Sandbox) -> None:
    assert sandbox.ask("status").returncode == 0
    assert sandbox.json("status")["pid"] == 1


@pytest.mark.slow
def test_jobs_have_no_rights_and_can_write_nowhere(sandbox: Sandbox) -> None:
    found = sandbox.ask("trigger", "who", "--wait")

    assert found.returncode == 1
    assert sandbox.ask("logs", "who", "--stream", "stdout").stdout == f"{UNPRIVILEGED}\n{UNPRIVILEGED}\n"
    assert sandbox.ask("logs", "who", "--stream", "stderr").stdout.count("Read-only file system") == 3


@pytest.mark.slow
def test_an_orphan_of_a_job_is_reaped_by_process_1(sandbox: Sandbox) -> None:
    assert sandbox.ask("trigger", "orphan", "--wait").returncode == 0


def test_the_image_runs_without_rights_with_its_state_in_a_volume() -> None:
    state = re.search(r"^ENV KROND_STATE=(\S+)$", FILE.last, re.MULTILINE)
    volume = re.search(r"^VOLUME (\S+)$", FILE.last, re.MULTILINE)

    assert FILE.has_no_rights()
    assert state is not None
    assert volume is not None
    assert state[1].startswith(f"{volume[1]}/")


def test_the_image_says_what_krond_understands() -> None:
    from kron.hosts.krond.commands.group import krond

    program, *_ = FILE.words("ENTRYPOINT")
    for subcommand, *rest in (FILE.words("CMD"), FILE.words("HEALTHCHECK")[1:]):
        command_of(krond, subcommand).make_context(subcommand, rest)

    assert program == FILE.words("HEALTHCHECK")[0] == "krond"


def test_everything_that_the_image_copies_is_there() -> None:
    assert FILE.copied()
    assert all(path.exists() for path in FILE.copied())
