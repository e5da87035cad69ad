"""One function a page: what it shows, as the context of a template. The load is in `load_page`."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kron._version import __version__
from kron.cron.description import describe
from kron.cron.wall_time import read_moment
from kron.cron.zone import Zone
from kron.decision.decide import candidates
from kron.decision.decision import Decision
from kron.engine.jobs.job_state import JobState
from kron.errors import KronError
from kron.hosts.krond.failed_file import finding_text, label_of
from kron.hosts.krond.upcoming import ahead_until, clock_ahead
from kron.hosts.krond.web.queries import HOUR, JobQueries
from kron.instant import Instant, format_duration
from kron.jobfile.host_job import HostJob
from kron.jobfile.job import Job as JobText
from kron.rules.evidence import ahead_text
from kron.rules.history import HistoryRow
from kron.rules.job_record import JobRecord
from kron.rules.periods import effective_time
from kron.theory.properties import SUITES
from kron.web.drawing import Drawing, bands, explained_window, strip
from kron.web.format import NOT_VIOLATED, VIOLATED, age, clock, last_badge, shown_row
from kron.web.template import render
from kron.why.explanation import ExplainedPeriod, Explanation
from kron.why.sentence import sentence

WAYS = (("/", "Overview"), ("/load", "Load"), ("/why", "Why?"), ("/monitor", "Monitor"))


@dataclass(frozen=True, slots=True)
class Page:
    """What a template needs, and what the frame around all pages needs beside that."""

    template: str
    title: str
    context: Mapping[str, object]
    path: str = ""  # of those pages that the frame links to
    about: str | None = None  # the identity of the job that the page is about
    every: int | None = None  # seconds until the script looks again, if nothing is heard meanwhile

    def html(self, now: Instant) -> bytes:
        """Return the page as a browser gets it."""
        frame = {"title": self.title, "path": self.path, "about": self.about, "every": self.every}
        site = {"product": "krond", "root": "", "ways": WAYS, "now": now}
        return render(self.template, {**self.context, **frame, **site}).encode()


def message_page(
    title: str, message: str, *, jobs: Sequence[Mapping[str, str]] = (), back: JobRecord | None = None
) -> Page:
    """Return a page that says why there is no other: with the jobs that a name may mean, or the way back to one."""
    return Page("message.html", title, {"message": message, "jobs": jobs, "back": back})


# --- the overview -----------------------------------------------------------------------------------------------------

JOBS_A_PAGE = 50
_RUNNING = 50  # runs
_LOOKED_AT = 300  # the newest problems
_PROBLEMS = 30  # jobs
_TICKS = 6  # of the hour


def overview(queries: JobQueries, search: str = "", number: int = 0) -> Page:
    """Return what runs, what failed, what is due, and the jobs with `search` in their names from a page on."""
    now, jobs, running = queries.now(), queries.jobs(), queries.running()
    found = _search(jobs, search)
    first = number * JOBS_A_PAGE
    shown = found[first : first + JOBS_A_PAGE]
    coming = queries.next_hour(now)
    context = {
        "state": _state(queries),
        "running": [
            {
                "name": run.work.name,
                "identity": run.attempt.identity,
                "started": run.attempt.started,
                "age": age(run.attempt.started, now),
                "pid": None if run.process is None else run.process.pid,
                "run_id": run.run_id,
            }
            for run in running[:_RUNNING]
        ],
        "more_running": max(0, len(running) - _RUNNING),
        **_problems(queries.troubles(_LOOKED_AT)),
        "ticks": [clock(now + HOUR * tick / _TICKS)[:5] for tick in range(_TICKS)],
        "timelines": [_timeline(job, decisions, now) for job, decisions in coming.rows],
        "due_jobs": coming.jobs,
        "search": search,
        "jobs": [_listed(queries, job, now) for job in shown],
        "count": len(found),
        "number": number,
        "first": first + 1,
        "last": min(len(found), first + JOBS_A_PAGE),
        "last_number": (len(found) - 1) // JOBS_A_PAGE,
    }
    return Page("overview.html", "Overview", context, path="/")


def _search(jobs: list[JobState], search: str) -> list[JobState]:
    word = search.casefold()
    return [job for job in jobs if word in job.record.name.casefold() or word in job.record.identity.casefold()]


def _state(queries: JobQueries) -> dict[str, object]:
    surface, jobs, failed_ledger = queries.surface, queries.jobs(), queries.failed_ledger()
    how = "draining: it starts nothing any more" if surface.draining else "ready" if surface.ready else "starting"
    if failed_ledger is not None and surface.ready and not surface.draining:
        how = "not able to record"
    failed = {each.file for each in surface.failed_files}
    notices = [
        f"Not reloaded: {finding_text(finding)}"
        for finding in surface.failed_reload or ()
        if finding["file"] not in failed
    ]
    for file in surface.failed_files:
        label = label_of(file.since, file.keeps_jobs).capitalize()
        notices += [f"{label}: {finding_text(each)}" for each in file.findings]
    ahead = clock_ahead(jobs, queries.now())
    return {
        "version": __version__,
        "how": how,
        "since": surface.started_at,
        "jobs": len(jobs),
        "suspended": sum(job.is_suspended for job in jobs),
        "failed_ledger": failed_ledger,
        "notices": notices,
        "ahead": None if ahead is None else {"count": ahead.count, "text": ahead_text(ahead.until)},
        "violations": len(queries.violations),
    }


def _problems(rows: list[HistoryRow]) -> dict[str, object]:
    """Return the newest problem of each job: one that fails every minute does not hide the others."""
    newest = {str(row["identity"]): row for row in reversed(rows)}
    times = Counter(str(row["identity"]) for row in rows)
    jobs = list(times)
    found = [{"row": shown_row(newest[identity]), "times": times[identity]} for identity in jobs[:_PROBLEMS]]
    return {"problems": found, "more_problems": max(0, len(jobs) - _PROBLEMS)}


def _timeline(job: JobState, decisions: Sequence[Decision], now: Instant) -> dict[str, object]:
    first = decisions[0]
    window = f"of the window {clock(first.window_start)} to {clock(first.window_end)}"
    many = f", and {len(decisions) - 1} more" if len(decisions) > 1 else ""
    second = clock(effective_time(first))
    return {
        "name": job.record.name,
        "identity": job.record.identity,
        "first": second if first.chosen_time is not None else f"none: {first.reason}",
        "picture": bands(now, now + HOUR, decisions, f"{second}, {window}{many}"),
    }


def _listed(queries: JobQueries, job: JobState, now: Instant) -> dict[str, object]:
    found = queries.host_job(job)
    return {
        "name": found.name,
        "identity": found.identity,
        "schedule": found.schedule,
        "timezone": found.timezone,
        "is_suspended": job.is_suspended,
        "suspended_until": job.record.suspended_until,
        "next": None if job.is_suspended else next(iter(queries.decisions(job, now, 1)), None),
        "active": len(job.active),
        "last": last_badge(*queries.last.get(found.identity, (None, None))),
    }


# --- a job ------------------------------------------------------------------------------------------------------------

_NEXT = 8
_EXPLAINED = 3  # of the next
_HISTORY = 60
_CANDIDATES = 12  # that are shown one by one


def job_page(queries: JobQueries, identity: str) -> Page:
    """Return what a job is, what is due and how its seconds are chosen, and its history; also of a removed job."""
    now, job, record = queries.now(), queries.job(identity), queries.record(identity)
    zone = queries.zone(identity)
    rows = [shown_row(row) for row in reversed(queries.rows(identity, _HISTORY))]
    context: dict[str, object] = {
        "identity": identity,
        "name": record.name,
        "zone": zone,
        "job": None if job is None else _now(job, now),
        "definition": [] if job is None else _definition(queries, job),
        "next": [],
        "explained": [],
        "rows": rows,
        "strip": strip(rows) if rows else None,
    }
    if job is not None:
        found = queries.decisions(job, now, _NEXT)
        last = max((each.window_end for each in found), default=now)
        context["next"] = [{"decision": each, "picture": bands(now, last, [each], _label(each))} for each in found]
        context["explained"] = [_explained(each, is_open=each is found[0]) for each in found[:_EXPLAINED]]
    return Page("job.html", record.name, context, about=identity)


def _now(job: JobState, now: Instant) -> dict[str, object]:
    record, ahead = job.record, ahead_until(job, now)
    return {
        "is_suspended_by_file": job.work.policy.suspend,
        "is_suspended": record.is_suspended,
        "suspended_until": record.suspended_until,
        "ahead": None if ahead is None else ahead_text(ahead),
        "active": list(job.active),
        "declared_at": record.declared_at,
        "actions": ["resume" if record.is_suspended else "suspend", "trigger"],
    }


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is known of a job; what a machine reads is shown as code."""

    name: str
    text: str
    is_code: bool = False


def _definition(queries: JobQueries, job: JobState) -> list[Fact]:
    found, timing = queries.host_job(job), job.work.timing
    rows = [Fact("Description", found.description), Fact("Schedule", found.schedule, is_code=True)]
    if timing is None:
        rows.append(Fact("In words", "once after each start of the machine"))
    else:
        window, line = timing.window, JobText(timing, found.policy).to_line()
        length = f"{window.mode.value}, {format_duration(window.duration)}" if window.duration else "none"
        rows += [
            Fact("In words", f"{describe(timing.schedule.expression)}, {timing.schedule.timezone}"),
            Fact("Window", length),
            Fact("In one line", line if line != found.schedule else "", is_code=True),
        ]
    return [*rows, *_facts(found)]


def _facts(found: HostJob) -> list[Fact]:
    command, policy = found.command, found.policy
    names = ", ".join(name for name, _ in command.env)  # what they are set to may be secret
    return [
        Fact("Command", shlex.join(command.argv), is_code=True),
        Fact("User", ":".join(each for each in (command.user, command.group) if each)),
        Fact("Directory", command.cwd),
        Fact("Environment", names),
        Fact("Output", f"{command.stdout}; errors: {command.stderr}"),
        Fact("Timeout", format_duration(command.timeout) if command.timeout is not None else ""),
        Fact("Retries", f"{found.retries}, after {format_duration(found.retry_delay)}" if found.retries else ""),
        Fact("Policy", f"concurrency {policy.concurrency.value}, deadline {format_duration(policy.deadline)}"),
        Fact("Defined in", f"{found.file}:{found.line}"),
    ]


def _label(decision: Decision) -> str:
    window = f"window {clock(decision.window_start)} to {clock(decision.window_end)} UTC"
    return f"{window}, chosen {'none' if decision.chosen_time is None else clock(decision.chosen_time)}"


@dataclass(frozen=True, slots=True)
class ExplainedSecond:
    """How the second of a period was chosen."""

    decision: Decision
    picture: Drawing | str  # or why there is none
    seed: str
    distribution: str
    drawn: int
    candidates: Sequence[Mapping[str, object]]  # the last ones
    is_open: bool


def _explained(decision: Decision, *, is_open: bool = False) -> ExplainedSecond | None:
    """Return how the second of a period was chosen, None if it is the only one."""
    if not decision.attempts:
        return None
    tried = list(candidates(decision))
    lines = [
        {
            "attempt": each.attempt,
            "u": f"{each.u:.12f}",
            "at": each.at,
            "verdict": f"rejected by {each.rejected_by}" if each.rejected_by else "accepted",
        }
        for each in tried[-_CANDIDATES:]
    ]
    try:
        label = f"The window of {decision.period_id} with its chosen second"
        picture: Drawing | str = explained_window(decision, label)
    except KronError as error:  # the calendar ends
        picture = error.message
    seed = json.dumps("\n".join((decision.identity, decision.period_key, decision.salt)), ensure_ascii=False)
    params = "".join(f", {key}={value}" for key, value in decision.distribution.to_params().items())
    return ExplainedSecond(decision, picture, seed, f"{decision.distribution.name}{params}", len(tried), lines, is_open)


# --- a run ------------------------------------------------------------------------------------------------------------

_TAIL = 64 * 1024  # bytes of output on the page; all of it is one link away
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-Z^-~])")
_BACK = re.compile(r"\r+\n?")
_OFTEN = 2  # seconds between two looks at what a run writes


def run_page(queries: JobQueries, row: HistoryRow) -> Page:
    """Return a run and the end of its output; while it is running a browser looks again and again."""
    shown, tail = shown_row(row), queries.output(row).tail(_TAIL)
    written = tail.text()
    text = _plain(written.decode("utf-8", "replace"))
    if tail.skipped:
        text = text.partition("\n")[2] or text
    context = {
        "row": shown,
        "zone": queries.zone(shown.identity),
        "tail": _TAIL // 1024 if tail.skipped else None,
        "size": tail.skipped + len(written),
        "output": text,
    }
    return Page("run.html", f"Run {shown.run_id}", context, every=_OFTEN if shown.is_running else None)


def _plain(written: str) -> str:
    """Return what was written for a terminal without colours and titles; a carriage return begins a new line."""
    return _BACK.sub("\n", _TERMINAL.sub("", written))


# --- why --------------------------------------------------------------------------------------------------------------

_PERIODS = 10  # of an answer that are shown in full


def why_page(queries: JobQueries, job: str = "", at: str = "", *, refusal: str = "") -> Page:
    """Return the answer; without a job or an instant, or with a refusal, only the form that asks for them."""
    answer = _answer(queries, job, at) if job and at and not refusal else None
    context = {"job": job, "at": at, "refusal": refusal, "answer": answer}
    return Page("why.html", "Why did it, or did it not, run?", context, path="/why")


def _answer(queries: JobQueries, job: str, at: str) -> dict[str, object]:
    identity = queries.find(job, "")
    answer = Explanation(queries.inquire(identity, lambda zone, now: read_moment(at, zone, now)))
    record = answer.inquiry.record
    return {
        "name": record.name,
        "identity": record.identity,
        "second": answer.second,
        "zone": queries.zone(identity),
        "sentence": sentence(answer),
        "has_run": answer.run is not None,
        "periods": [_period(each) for each in answer.periods[:_PERIODS]],
    }


def _period(found: ExplainedPeriod) -> dict[str, object]:
    decision = found.decision
    zone: Zone = decision.terms.zone
    return {
        "decision": decision,
        "zone": zone,
        "row": shown_row(found.row),
        "has_outcome": found.row["outcome"] is not None,
        "ahead": None if found.ahead is None else ahead_text(found.ahead),
        "explained": _explained(decision),
    }


# --- the monitor ------------------------------------------------------------------------------------------------------


def monitor_page(queries: JobQueries) -> Page:
    """Return each property, whether it was violated, by whom, and what led there."""
    found = {finding.property.name: finding for finding in queries.violations}
    suite = SUITES["kron"].properties
    rows = [
        (each, found.get(each.name), VIOLATED if each.name in found else NOT_VIOLATED)
        for each in sorted(suite, key=lambda each: each.name not in found)
    ]
    return Page("monitor.html", "Monitor", {"rows": rows, "violated": len(found)}, path="/monitor")
