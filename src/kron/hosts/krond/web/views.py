"""The pages of a run, of a question why, and of the monitor."""

import re

from kron.cron.wall_time import read_moment
from kron.hosts.krond.web.document import document, notice, section
from kron.hosts.krond.web.format import job_link, length, moment, reason, run_href, run_link, verdict
from kron.hosts.krond.web.html import Child, facts, table, tag
from kron.hosts.krond.web.job_page import explained, why_form
from kron.hosts.krond.web.queries import JobQueries
from kron.rules.evidence import ahead_text
from kron.rules.history import RunRow
from kron.theory.properties import SUITES
from kron.theory.results import PropertyResult
from kron.why.explanation import ExplainedPeriod, Explanation
from kron.why.sentence import sentence

_TAIL = 64 * 1024  # bytes of output on the page; all of it is one link away
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-Z^-~])")
_BACK = re.compile(r"\r+\n?")
_OFTEN = 2  # seconds between two looks at what a run writes


def run_page(sight: JobQueries, row: RunRow) -> bytes:
    """Return the page; while the run goes on a browser looks again and again."""
    tail = sight.output(row).tail(_TAIL)
    written = tail.text()
    shown = _plain(written.decode("utf-8", "replace"))
    if tail.skipped:
        shown = shown.partition("\n")[2] or shown
    every = tag("a", "All of it, as text", href=f"{run_href(row.run_id or '')}/output")
    size = tail.skipped + len(written)
    summary = f"The last {_TAIL // 1024} KiB of {size} bytes. " if tail.skipped else f"{size} bytes. "
    name, identity = row.name, row.identity
    zone = sight.zone(identity)
    how = reason(row)
    return document(
        f"Run {row.run_id}",
        section(
            "run",
            [job_link(name, identity), " ", verdict(row)],
            facts(
                [
                    ("How", "" if row.result is not None and how == row.result.value else how),
                    ("Kind", row.kind.value),
                    ("Period", row.period_id or ""),
                    ("Chosen", moment(row.chosen_time, zone)),
                    ("Began", moment(row.started_at, zone)),
                    ("Ended", moment(row.ended_at, zone)),
                    ("Took", length(row.duration)),
                    ("Late", length(row.lateness) if row.lateness else ""),
                    ("Exit code", "" if row.exit_code is None else str(row.exit_code)),
                    ("Signal", row.signal or ""),
                    ("Attempt", f"{row.attempt} of {row.attempts}"),
                ]
            ),
        ),
        section(
            "output",
            "Output",
            tag("p", summary, every),
            tag("pre", shown, tabindex="0", aria_label="Output", class_="output") if shown else None,
        ),
        now=sight.now(),
        every=_OFTEN if row.state == "running" else None,
    )


def _plain(written: str) -> str:
    """Return what was written for a terminal without colours and titles; whatever went back goes on in a new line."""
    return _BACK.sub("\n", _TERMINAL.sub("", written))


_EXPLAINED = 10  # periods of an answer that are told in full


def why_page(sight: JobQueries, job: str = "", at: str = "", *, refusal: str = "") -> bytes:
    """Return the answer; without a job or a moment, or with a refusal, only the form that asks for them."""
    form = section("ask", "Ask", why_form(job, at), live=False)
    found = notice(refusal) if refusal else _answer(sight, job, at) if job and at else None
    return document("Why did it, or did it not, run?", form, found, now=sight.now(), path="/why")


def _answer(sight: JobQueries, job: str, at: str) -> Child:
    identity = sight.find(job, "")
    answer = Explanation(sight.inquire(identity, lambda zone, now: read_moment(at, zone, now)))
    record = answer.evidence
    return section(
        "answer",
        ["Did ", job_link(record.name, record.identity), " run at ", moment(answer.second, sight.zone(identity)), "?"],
        notice(sentence(answer), kind="good" if answer.run else "odd"),
        [_episode(each) for each in answer.periods[:_EXPLAINED]],
    )


def _episode(episode: ExplainedPeriod) -> Child:
    row, decision = episode.row, episode.decision
    zone = decision.terms.zone
    told = [row.state, ": ", row.detail] if row.outcome is None else [verdict(row), " ", reason(row)]
    return tag(
        "article",
        tag("h3", f"Period {decision.period_id}"),
        facts(
            [
                ("Nominal", moment(decision.nominal_time, zone)),
                ("Chosen", moment(decision.chosen_time, zone) or f"none: {decision.reason}"),
                ("What became of it", told),
                ("Clock", "" if episode.ahead is None else ahead_text(episode.ahead)),
                ("Run", run_link(row.run_id)),
                ("Began", moment(row.started_at, zone)),
                ("Late", length(row.lateness) if row.lateness else ""),
                ("Took", length(row.duration)),
            ]
        ),
        explained(decision, zone),
    )


_HEADS = ("Name", "What it says", "Verdict", "Explanation")


def monitor_page(sight: JobQueries) -> bytes:
    """Return the page: each property, whether it was violated, by whom, and what led there."""
    found = {finding.property.name: finding for finding in sight.violations}
    suite = SUITES["kron"].properties
    heads = _HEADS if found else _HEADS[:-1]
    rows = [
        (each.name, each.sentence, _verdict(found.get(each.name)), _told(found.get(each.name)))[: len(heads)]
        for each in sorted(suite, key=lambda each: each.name not in found)
    ]
    summary = f"{len(found)} of {len(suite)} properties were violated since krond started." if found else None
    return document(
        "Monitor",
        section(
            "properties",
            "Properties",
            tag("p", summary or f"None of {len(suite)} properties was violated since krond started."),
            table("Properties", heads, rows, empty=""),
        ),
        now=sight.now(),
        path="/monitor",
    )


def _verdict(finding: PropertyResult | None) -> Child:
    if finding is None:
        return tag("span", tag("span", "✓", aria_hidden="true"), " not violated", class_="badge good")
    return tag("span", tag("span", "✗", aria_hidden="true"), " violated", class_="badge bad")


def _told(finding: PropertyResult | None) -> Child:
    if finding is None:
        return None
    blame = "" if finding.blame is None else f"{finding.blame.value}: "
    return f"{blame}{finding.explanation}"
