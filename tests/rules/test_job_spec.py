"""A JobSpec stores its definition compactly and restores it completely."""

from hypothesis import given, strategies as st

from kron.decision.timing import Timing
from kron.jobfile.host_job import Command, HostJob, work_of
from kron.rules.job_spec import JobSpec, definition_key, pack, unpack
from kron.rules.policy import Policy

TEXTS = st.text(st.characters(codec="utf-8"))


@given(text=TEXTS)
def test_a_definition_is_what_was_said(text: str) -> None:
    work = JobSpec("a", "a", None, Policy(), text)

    assert (work.definition, work.definition_key) == (text, definition_key(text))


@given(text=TEXTS, other=TEXTS)
def test_works_are_equal_if_their_definitions_are(text: str, other: str) -> None:
    works = [JobSpec("a", "a", None, Policy(), each) for each in (text, other)]

    assert (works[0] == works[1]) == (text == other)


def test_the_key_of_a_definition_is_the_one_that_ledgers_have() -> None:
    assert definition_key('{"timing": null}') == "3ae19a1cba35f1e0"


def test_works_are_equal_whatever_their_payload() -> None:
    assert JobSpec("a", "a", None, Policy(), "{}", payload=1) == JobSpec("a", "a", None, Policy(), "{}", payload=2)


def test_a_work_is_written_without_its_packed_definition() -> None:
    assert "packed" not in repr(JobSpec("a", "a", None, Policy(), "{}"))


def test_a_usual_definition_takes_an_eighth_of_its_room() -> None:
    timing = Timing.parse("30 4 * * 1-5 @win(after,2h)", identity="/etc/krond/jobs.toml:report")
    command = Command(("/usr/local/bin/report", "--all"))
    work = work_of(HostJob("report", timing.identity, "30 4 * * 1-5", "UTC", timing, Policy(), command))

    assert len(work.packed) * 8 < len(work.definition)


@given(size=st.integers(0, 300_000))
def test_long_definitions_come_back_whole(size: int) -> None:
    text = "".join(map(str, range(size // 6))) + "x" * (size % 6)

    assert unpack(pack(text)) == text
