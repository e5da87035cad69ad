"""Kron beside cronsim and croniter over a seeded corpus: the same answers, or a difference listed and judged."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from croniter import CroniterError, croniter
from cronsim import CronSim, CronSimError

from kron.cron.expression import parse
from kron.cron.schedule import Schedule
from kron.errors import InvalidCronExpressionError
from tests.cron.moments import at
from tests.cron.peers import HOUR, PEERS, OccurrenceQuery, answers, corpus


@dataclass(frozen=True)
class Disagreement:
    """A kind of question that a peer answers otherwise: an example, both answers, and who is right."""

    peer: str
    covers: Callable[[OccurrenceQuery], bool]
    example: OccurrenceQuery
    kron: str
    theirs: str
    verdict: str


def has_a_range_of_one(question: OccurrenceQuery) -> bool:
    elements = [element.partition("/")[0] for field in question.fields for element in field.split(",")]
    return any(first == last for first, dash, last in (element.partition("-") for element in elements) if dash)


def spells_out_every_day(question: OccurrenceQuery) -> bool:
    reference = question.reference
    return reference.either and (len(reference.days) == 31 or len(reference.weekdays) == 7)


def has_an_impossible_day(question: OccurrenceQuery) -> bool:
    longest = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
    return min(question.reference.days) > max(longest.get(month, 31) for month in question.reference.months)


def starts_in_the_second_pass(question: OccurrenceQuery) -> bool:
    return question.local.fold == 1


def crosses_a_change_off_the_hour(question: OccurrenceQuery) -> bool:
    return any((after - before) % HOUR or before % HOUR for _, before, after in question.changes_nearby())


def is_near_a_fold_longer_or_shorter_than_an_hour(question: OccurrenceQuery) -> bool:
    return any(
        after < before and (before - after != HOUR or before % HOUR) for _, before, after in question.changes_nearby()
    )


def is_near_an_unusual_gap(question: OccurrenceQuery) -> bool:
    return is_near_a_day_without_midnight(question) or crosses_a_change_off_the_hour(question)


def is_near_a_day_without_midnight(question: OccurrenceQuery) -> bool:
    return any(after > before and not (change + before).hour for change, before, after in question.changes_nearby())


KNOWN_DISAGREEMENTS = {
    "a range of one with a step, 8-8/7, is read as 8/7": Disagreement(
        "cronsim",
        has_a_range_of_one,
        OccurrenceQuery("0 8-8/7 * * *", at("2026-01-15 20:44:07Z")),
        kron="2026-01-16 08:00:00+00:00",
        theirs="2026-01-15 22:00:00+00:00",
        verdict="Kron: a range ends where it says; cronsim steps on to the end of the day",
    ),
    "the second pass of a fold is forgotten": Disagreement(
        "cronsim",
        lambda question: not question.starred_time and starts_in_the_second_pass(question),
        OccurrenceQuery("43 1,2 * * *", at("2011-10-30 01:30:00+00:00"), "Europe/Dublin"),
        kron="2011-10-30 02:43:00+00:00",
        theirs="2011-10-30 00:43:00+00:00",
        verdict="Kron: cronsim drops the offset of the start, and answers with a moment before it",
    ),
    "hours are counted over a change that is off the hour": Disagreement(
        "cronsim",
        lambda question: question.starred_time and crosses_a_change_off_the_hour(question),
        OccurrenceQuery("* 16-17 * * *", at("2012-10-06 21:31:00+10:30"), "Australia/Lord_Howe"),
        kron="2012-10-07 05:00:00+00:00",
        theirs="2012-10-07 05:30:00+00:00",
        verdict="Kron: cronsim goes on in steps of an hour, now at half past, and misses 16:00 to 16:29",
    ),
    "a day without midnight is entered an hour late": Disagreement(
        "cronsim",
        lambda question: question.starred_time and is_near_a_day_without_midnight(question),
        OccurrenceQuery("*/7 1-17 * * 0", at("2016-03-26 20:17:00-01:00"), "Atlantic/Azores"),
        kron="2016-03-27 01:00:00+00:00",
        theirs="2016-03-27 02:00:00+00:00",
        verdict="Kron: cronsim begins at a midnight that does not exist, and steps over the hour that does",
    ),
    "a range of one is read as every value": Disagreement(
        "croniter",
        has_a_range_of_one,
        OccurrenceQuery("0 8-8 * * *", at("2026-01-15 20:44:07Z")),
        kron="2026-01-16 08:00:00+00:00",
        theirs="2026-01-15 21:00:00+00:00",
        verdict="Kron: croniter lets the range wrap around the whole day",
    ),
    "a range of all values counts as a star if the other field has one inside": Disagreement(
        "croniter",
        spells_out_every_day,
        OccurrenceQuery("0 0 13,*/20 * 0-6", at("2027-02-03 23:45:47Z")),
        kron="2027-02-04 00:00:00+00:00",
        theirs="2027-02-13 00:00:00+00:00",
        verdict="Kron: neither field begins with a star, so either is enough, and one of them is always true",
    ),
    "an impossible day hides the weekday beside it": Disagreement(
        "croniter",
        has_an_impossible_day,
        OccurrenceQuery("0 0 30 2 1", at("2026-01-15 00:00:00Z")),
        kron="2026-02-02 00:00:00+00:00",
        theirs="None",
        verdict="Kron: either is enough; croniter gives up on 30 February before it looks at Mondays",
    ),
    "every hour is moved out of an unusual gap": Disagreement(
        "croniter",
        lambda question: question.names_every_hour and is_near_an_unusual_gap(question),
        OccurrenceQuery("21 * * * 0-1", at("2007-03-24 06:22:00+02:00"), "Asia/Beirut"),
        kron="2007-03-24 22:21:00+00:00",
        theirs="2007-03-24 22:00:00+00:00",
        verdict="Kron: croniter moves it to 01:00, minute 0, though it skips gaps where every hour is named",
    ),
    "the second pass of an unusual fold is lost": Disagreement(
        "croniter",
        is_near_a_fold_longer_or_shorter_than_an_hour,
        OccurrenceQuery("58 0,1,7 * * *", at("2017-10-29 02:46:00+02:00"), "Antarctica/Troll"),
        kron="2017-10-29 01:58:00+00:00",
        theirs="2017-10-29 07:58:00+00:00",
        verdict="Kron: 01:58 occurs again two hours later; croniter looks for folds of an hour on the hour",
    ),
}


def unlisted(peer: str, questions: list[OccurrenceQuery]) -> list[tuple[OccurrenceQuery, datetime, datetime | None]]:
    """The questions on which Kron and the peer differ, and no listed disagreement covers it."""
    known = [disagreement for disagreement in KNOWN_DISAGREEMENTS.values() if disagreement.peer == peer]
    found = []
    for question in questions:
        ours, theirs = answers(peer, question)
        if ours != theirs and not any(disagreement.covers(question) for disagreement in known):
            found.append((question, ours, theirs))
    return found


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("seed", range(4))
def test_there_is_no_disagreement_that_is_not_listed(peer: str, seed: int) -> None:
    assert unlisted(peer, list(corpus(seed, 600))) == []


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("seed", range(100, 108))
def test_there_is_no_disagreement_that_is_not_listed_in_a_large_corpus(peer: str, seed: int) -> None:
    assert unlisted(peer, list(corpus(seed, 5000))) == []


@pytest.mark.parametrize("what", KNOWN_DISAGREEMENTS)
def test_a_listed_disagreement_is_still_one(what: str) -> None:
    known = KNOWN_DISAGREEMENTS[what]
    ours, theirs = answers(known.peer, known.example)

    assert known.covers(known.example)
    assert (str(ours), str(theirs)) == (known.kron, known.theirs)


@pytest.mark.parametrize("peer", PEERS)
def test_most_of_the_corpus_is_covered_by_no_listed_disagreement(peer: str) -> None:
    questions = list(corpus(0, 600))
    known = [disagreement for disagreement in KNOWN_DISAGREEMENTS.values() if disagreement.peer == peer]
    covered = [question for question in questions if any(disagreement.covers(question) for disagreement in known)]

    assert len(covered) < len(questions) / 2


def test_the_past_is_the_same_in_utc() -> None:
    for question in corpus(5, 600):
        if question.name == "UTC" and not has_a_range_of_one(question):
            start = question.moment + timedelta(microseconds=1)
            theirs = next(CronSim(question.text, start, reverse=True), None)

            assert Schedule(question.text).previous(start) == theirs, question


# --- the languages ----------------------------------------------------------------------------------------------------


def accepted_by(text: str) -> set[str]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    readers: dict[str, Callable[[], object]] = {
        "kron": lambda: parse(text),
        "cronsim": lambda: CronSim(text, start),
        "croniter": lambda: croniter(text, start),
    }
    return {name for name, accept in readers.items() if _accepts(accept)}


def _accepts(accept: Callable[[], object]) -> bool:
    try:
        accept()
    except (InvalidCronExpressionError, CronSimError, CroniterError):
        return False
    return True


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("0 3 * * *", "kron cronsim croniter"),
        ("*/15 9-17 * * MON-FRI", "kron cronsim croniter"),
        ("5/15 * * * *", "cronsim croniter"),
        ("*,5 * * * *", "cronsim croniter"),
        ("0 22-2 * * *", "croniter"),
        ("0 0 * * SAT-SUN", "kron croniter"),
        ("0 0 30 2 *", "croniter"),
        ("0 0 L * *", "cronsim croniter"),
        ("0 0 * * 5#2", "cronsim croniter"),
        ("0 0 ? * *", "croniter"),
        ("0 0 0 * * *", "cronsim croniter"),
        ("0\n3 * * *", "cronsim croniter"),
        ("@daily", "kron croniter"),
        ("٣ * * * *", "croniter"),
    ],
    ids=ascii,
)
def test_the_languages_differ_where_it_is_known(text: str, accepted: str) -> None:
    assert accepted_by(text) == set(accepted.split())
