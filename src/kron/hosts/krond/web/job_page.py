"""job_page(sight, identity) -> bytes: what a job is, what comes and how its seconds are chosen, what became of it."""

import json
import shlex

from kron.cron.description import describe
from kron.cron.zone import Zone
from kron.decision.decide import candidates
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.engine.jobs.job_state import JobState
from kron.errors import KronError
from kron.hosts.krond.upcoming import ahead_until
from kron.hosts.krond.web.document import document, feeds, notice, section
from kron.hosts.krond.web.drawing import bands, explanation, strip
from kron.hosts.krond.web.format import (
    clock,
    job_href,
    length,
    moment,
    reason,
    run_link,
    verdict,
)
from kron.hosts.krond.web.html import Child, facts, table, tag
from kron.hosts.krond.web.queries import JobQueries
from kron.instant import Instant, format_duration
from kron.jobfile.host_job import HostJob
from kron.jobfile.job import Job as JobText
from kron.rules.evidence import ahead_text
from kron.rules.history import RunRow

_NEXT = 8
_HISTORY = 60
_CANDIDATES = 12  # that are told one by one


def job_page(sight: JobQueries, identity: str) -> bytes:
    """Return the page, also of a job that is not defined any more."""
    now, job, record = sight.now(), sight.job(identity), sight.record(identity)
    zone = sight.zone(identity)
    gone = notice("It is not defined any more; what became of it is kept.", kind="odd") if job is None else None
    return document(
        record.name,
        tag("p", tag("code", identity), class_="identity"),
        gone,
        None if job is None else _now(job, now, zone),
        None if job is None else section("definition", "Definition", facts(_definition(sight, job, zone))),
        None if job is None else section("next", "What comes", _next(sight, job, now, zone)),
        section("history", "What became of it", _history(sight.rows(identity, _HISTORY), zone)),
        section("why", "Why did it, or did it not, run?", why_form(identity, is_fixed=True), live=False),
        now=now,
        about=identity,
    )


def why_form(job: str = "", at: str = "", *, is_fixed: bool = False) -> Child:
    """Return the form that asks why; of one job that is `fixed`, or of any."""
    asked: Child = tag("input", type="hidden", name="job", value=job)
    if not is_fixed:
        field = tag("input", name="job", id="why-job", value=job, required=True)
        asked = [tag("label", "Job", for_="why-job"), field]
    return tag(
        "form",
        asked,
        tag("label", "When, by its clock", for_="why-at"),
        tag("input", name="at", id="why-at", value=at, required=True, size=26, placeholder="03:00 or 2026-03-01 03:00"),
        tag("button", "Ask"),
        action="/why",
    )


def _now(job: JobState, now: Instant, zone: Zone) -> Child:
    record = job.record
    states: list[Child] = []
    if job.work.policy.suspend:
        states.append(notice("Suspended by its file.", kind="odd"))
    if record.is_suspended:
        until = (" until ", moment(record.suspended_until, zone)) if record.suspended_until else ()
        states.append(notice("Suspended by command", until, ".", kind="odd"))
    if (ahead := ahead_until(job, now)) is not None:
        states.append(notice(f"Its periods were {ahead_text(ahead)}.", kind="odd"))
    for run_id in list(job.active):
        states.append(notice("Running: ", run_link(run_id), kind="busy"))
    acts = ["resume" if record.is_suspended else "suspend", "trigger"]
    links = [
        tag("a", act.capitalize(), href=job_href(record.name, record.identity, act), class_="button") for act in acts
    ]
    return tag("div", tag("div", states, role="status"), tag("p", links, class_="acts"), id="now", data_live=True)


def _definition(sight: JobQueries, job: JobState, zone: Zone) -> list[tuple[str, Child]]:
    found, timing = sight.host_job(job), job.work.timing
    rows: list[tuple[str, Child]] = [("Description", found.description), ("Schedule", tag("code", found.schedule))]
    if timing is None:
        rows.append(("In words", "once after each start of the machine"))
    else:
        window = timing.window
        rows += [
            ("In words", f"{describe(timing.schedule.expression)}, {timing.schedule.timezone}"),
            ("Window", f"{window.mode.value}, {format_duration(window.duration)}" if window.duration else "none"),
            ("In one line", tag("code", line) if (line := _line(timing, found)) != found.schedule else None),
        ]
    return [*rows, *_running(found), ("Defined in", f"{found.file}:{found.line}"), *_since(job, zone)]


def _line(timing: Timing, found: HostJob) -> str:
    return JobText(timing, found.policy).to_line()


def _running(found: HostJob) -> list[tuple[str, Child]]:
    command, policy = found.command, found.policy
    names = ", ".join(name for name, _ in command.env)  # what they are set to may be secret
    return [
        ("Command", tag("code", shlex.join(command.argv))),
        ("User", ":".join(each for each in (command.user, command.group) if each)),
        ("Directory", command.cwd),
        ("Environment", names),
        ("Output", f"{command.stdout}; errors: {command.stderr}"),
        ("Timeout", format_duration(command.timeout) if command.timeout is not None else ""),
        ("Retries", f"{found.retries}, after {format_duration(found.retry_delay)}" if found.retries else ""),
        ("Policy", f"concurrency {policy.concurrency.value}, deadline {format_duration(policy.deadline)}"),
    ]


def _since(job: JobState, zone: Zone) -> list[tuple[str, Child]]:
    return [("In force since", moment(job.record.declared_at, zone))]


# --- what comes -------------------------------------------------------------------------------------------------------


def _next(sight: JobQueries, job: JobState, now: Instant, zone: Zone) -> Child:
    found = sight.decisions(job, now, _NEXT)
    if not found:
        return tag("p", "Nothing comes by the calendar.", class_="empty")
    last = max((each.window_end for each in found), default=now)
    rows = [
        (
            moment(each.nominal_time, zone),
            moment(each.chosen_time, zone) or f"none: {each.reason}",
            bands(now, last, [each], _label(each)),
        )
        for each in found
    ]
    heads = ("Nominal", "Chosen", "From now on")
    return [
        tag("div", table("Decisions to come", heads, rows, empty=""), class_="timeline"),
        [explained(each, zone, is_open=number == 0) for number, each in enumerate(found[:3])],
        feeds(job.record.identity),
    ]


def _label(decision: Decision) -> str:
    window = f"window {clock(decision.window_start)} to {clock(decision.window_end)} UTC"
    return f"{window}, chosen {'none' if decision.chosen_time is None else clock(decision.chosen_time)}"


def explained(decision: Decision, zone: Zone, *, is_open: bool = False) -> Child:
    """Return how the second of a period was chosen, drawn and in words."""
    if not decision.attempts:
        return None
    seed = json.dumps("\n".join((decision.identity, decision.period_key, decision.salt)), ensure_ascii=False)
    params = "".join(f", {key}={value}" for key, value in decision.distribution.to_params().items())
    tried = list(candidates(decision))
    lines = [
        (
            each.attempt,
            f"{each.u:.12f}",
            moment(each.at, zone),
            f"rejected by {each.rejected_by}" if each.rejected_by else "accepted",
        )
        for each in tried[-_CANDIDATES:]
    ]
    label = f"The window of {decision.period_id} with its chosen second"
    try:
        picture: Child = explanation(decision, label)
    except KronError as error:  # the calendar ends
        picture = error.message
    return tag(
        "details",
        tag("summary", f"How the second of {decision.period_id} is chosen"),
        picture,
        tag("p", "▼ chosen · × rejected · N nominal · high: allowed, low: not allowed", class_="legend"),
        facts(
            [
                ("Window", [moment(decision.window_start, zone), " to ", moment(decision.window_end, zone)]),
                ("SHA-256 of", tag("code", seed)),
                ("Seed hash", tag("code", decision.seed_hash)),
                ("Distribution", f"{decision.distribution.name}{params}"),
                ("Candidates", f"{len(tried)} drawn"),
            ]
        ),
        table("Candidates", ("Attempt", "u", "Second", "Verdict"), lines, empty=""),
        id=f"explained-{decision.period_id}",
        open=is_open,
    )


# --- what became of it ------------------------------------------------------------------------------------------------


def _history(rows: list[RunRow], zone: Zone) -> Child:
    lines = [
        (
            moment(row.due, zone),
            verdict(row),
            reason(row),
            length(row.duration),
            length(row.lateness) if row.lateness else "",
            f"{row.attempt} of {row.attempts}" if row.attempts not in (0, 1) else "",
            run_link(row.run_id),
        )
        for row in reversed(rows)
    ]
    heads = ("Due", "What", "How", "Took", "Late", "Attempt", "Run")
    legend = "The newest first. Height: how long it took; the thin line: how late it began."
    return [
        [strip(rows[::-1]), tag("p", legend, class_="legend")] if rows else None,
        table("History, the newest first", heads, lines, empty="Nothing is recorded."),
    ]
