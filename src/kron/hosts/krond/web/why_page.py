"""why_page(sight, job, at) -> bytes: why a job did, or did not, run at a moment, and what led to it."""

from kron.hosts.krond.web.document import document, notice, section
from kron.hosts.krond.web.html import Child, facts, tag
from kron.hosts.krond.web.job_page import explained, why_form
from kron.hosts.krond.web.sight import Sight
from kron.hosts.krond.web.words import job_link, length, moment, moment_of, reason, run_link, verdict
from kron.hosts.moments import read_moment
from kron.rules.answer import Answer, Episode
from kron.rules.answer_text import sentence
from kron.rules.clock_ahead import ahead_text

_EXPLAINED = 10  # periods of an answer that are told in full


def why_page(sight: Sight, job: str = "", at: str = "", *, refusal: str = "") -> bytes:
    """Return the answer; without a job or a moment, or with a refusal, only the form that asks for them."""
    form = section("ask", "Ask", why_form(job, at), live=False)
    found = notice(refusal) if refusal else _answer(sight, job, at) if job and at else None
    return document("Why did it, or did it not, run?", form, found, now=sight.now(), path="/why")


def _answer(sight: Sight, job: str, at: str) -> Child:
    identity = sight.find(job, "")
    answer = Answer(sight.inquire(identity, lambda zone, now: read_moment(at, zone, now)))
    record = answer.inquiry.record
    return section(
        "answer",
        ["Did ", job_link(record.name, record.identity), " run at ", moment(answer.second, sight.zone(identity)), "?"],
        notice(sentence(answer), kind="good" if answer.run else "odd"),
        [_episode(each) for each in answer.episodes[:_EXPLAINED]],
    )


def _episode(episode: Episode) -> Child:
    row, decision = episode.row, episode.decision
    zone = decision.terms.zone
    told = [row["state"], ": ", row["detail"]] if row["outcome"] is None else [verdict(row), " ", reason(row)]
    return tag(
        "article",
        tag("h3", f"Period {decision.period_id}"),
        facts(
            [
                ("Nominal", moment(decision.nominal_time, zone)),
                ("Chosen", moment(decision.chosen_time, zone) or f"none: {decision.reason}"),
                ("What became of it", told),  # type: ignore[list-item] # values of a row are text or numbers
                ("Clock", "" if episode.ahead is None else ahead_text(episode.ahead)),
                ("Run", run_link(row["run_id"])),
                ("Began", moment_of(row["started_at"], zone)),
                ("Late", length(row["lateness"]) if row["lateness"] else ""),
                ("Took", length(row["duration"])),
            ]
        ),
        explained(decision, zone),
    )
