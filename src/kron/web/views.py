"""One function for each page: it returns the context of a template."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from heapq import nlargest
from operator import itemgetter

from kron.cron.description import describe
from kron.cron.wall_time import read_moment
from kron.decision.decide import candidates
from kron.decision.decision import Decision
from kron.errors import KronError
from kron.instant import Instant, format_duration, parse_instant
from kron.jobfile.job import Job as JobText
from kron.rules.history import RunRow
from kron.rules.job_record import JobRecord
from kron.rules.periods import effective_time
from kron.theory.properties import SUITES
from kron.theory.results import PropertyResult
from kron.web.drawing import Drawing, bands, explained_window, heat_picture, strip
from kron.web.forecast_worker import ForecastWorkers
from kron.web.format import NOT_VIOLATED, VIOLATED, clock
from kron.web.queries import HOUR, JobQueries, JobSummary, JobTimeline
from kron.web.source import Fact, OutputReader, PageSource
from kron.why.explanation import sentence


@dataclass(frozen=True, slots=True)
class Page:
    """A template with its context, and what the frame around it needs."""

    template: str
    title: str
    context: Mapping[str, object]
    path: str = ""  # of pages in the menu
    about: str | None = None  # the identity of the job that the page is about
    every: int | None = None  # seconds after which the script reloads the page, without an event


def message_page(
    title: str, message: str, *, jobs: Sequence[Mapping[str, str]] = (), back: JobRecord | None = None
) -> Page:
    """Return a page with a message, and the jobs that a name may mean or a link back to one."""
    return Page("message.html", title, {"message": message, "jobs": jobs, "back": back})


# --- the overview -----------------------------------------------------------------------------------------------------

JOBS_A_PAGE = 50
_RUNNING = 50  # runs
_LOOKED_AT = 300  # the newest problems
_PROBLEMS = 30  # jobs
_TICKS = 6  # of the hour
_DAY = timedelta(days=1)


def overview(source: PageSource, search: str = "", number: int = 0) -> Page:
    """Return running, failed and upcoming runs, and one page of the jobs with `search` in their names."""
    queries = source.jobs
    now, running, (declared, suspended) = queries.now(), queries.running(), queries.counts()
    first = number * JOBS_A_PAGE
    found = queries.page(search, offset=first, limit=JOBS_A_PAGE)
    coming = queries.next_hour()
    context = {
        "status": source.status(),
        "declared": declared,
        "suspended": suspended,
        "ahead": queries.clock_ahead(),
        "violations": len(source.violations() or ()),
        "running": running[:_RUNNING],
        "more_running": max(0, len(running) - _RUNNING),
        **_problems(queries.history.problems(_LOOKED_AT), now),
        "ticks": [clock(now + HOUR * tick / _TICKS)[:5] for tick in range(_TICKS)],
        "timelines": [_timeline(each, now) for each in coming.timelines],
        "due_jobs": coming.jobs,
        "search": search,
        "jobs": found.jobs,
        "count": found.total,
        "number": number,
        "first": first + 1,
        "last": min(found.total, first + JOBS_A_PAGE),
        "last_number": (found.total - 1) // JOBS_A_PAGE,
    }
    return Page("overview.html", "Overview", context, path="/")


def _problems(rows: Sequence[RunRow], now: Instant) -> dict[str, object]:
    """Return the newest problem of each job: one that fails every minute does not hide the others."""
    latest = max((row.ended_at or row.due for row in rows), default=now)
    newest = {row.identity: row for row in reversed(rows)}
    times = Counter(row.identity for row in rows)
    jobs = list(times)
    found = [{"row": newest[identity], "times": times[identity]} for identity in jobs[:_PROBLEMS]]
    more = max(0, len(jobs) - _PROBLEMS)
    return {"problems": found, "more_problems": more, "is_quiet": now - latest > _DAY}


def _timeline(found: JobTimeline, now: Instant) -> dict[str, object]:
    decisions = found.decisions
    first = decisions[0]
    window = f"of the window {clock(first.window_start)} to {clock(first.window_end)}"
    many = f", and {len(decisions) - 1} more" if len(decisions) > 1 else ""
    second = clock(effective_time(first))
    return {
        "job": found,
        "first": second if first.chosen_time is not None else f"none: {first.reason}",
        "picture": bands(now, now + HOUR, decisions, f"{second}, {window}{many}"),
    }


# --- a job ------------------------------------------------------------------------------------------------------------

_NEXT = 8
_EXPLAINED = 3  # of the next
_HISTORY = 60
_CANDIDATES = 12  # that are shown one by one


def job_page(source: PageSource, identity: str) -> Page:
    """Return what a job is, what is due and how its seconds are chosen, and its history; also of a removed job."""
    queries = source.jobs
    now, job = queries.now(), queries.job(identity)
    coming = queries.decisions(identity, _NEXT)
    last = max((each.window_end for each in coming), default=now)
    rows = queries.rows(identity, _HISTORY)[::-1]
    context = {
        "job": job,
        "zone": queries.zone(identity),
        "definition": _definition(job, source),
        "next": [{"decision": each, "picture": bands(now, last, [each], _label(each))} for each in coming],
        "explained": [_explained(each, is_open=each is coming[0]) for each in coming[:_EXPLAINED]],
        "rows": rows,
        "strip": strip(rows) if rows else None,
    }
    return Page("job.html", job.record.name, context, about=identity)


def _definition(job: JobSummary, source: PageSource) -> list[Fact]:
    spec, written = job.spec, job.written
    if spec is None or written is None:
        return []
    rows = [Fact("Description", written.description), Fact("Schedule", written.schedule, is_code=True)]
    timing, policy = spec.timing, spec.policy
    if timing is None:
        rows.append(Fact("In words", "once after each boot"))
    else:
        window, line = timing.window, JobText(timing, policy).to_line()
        length = f"{window.mode.value}, {format_duration(window.duration)}" if window.duration else "none"
        rows += [
            Fact("In words", f"{describe(timing.schedule.expression)}, {timing.schedule.timezone}"),
            Fact("Window", length),
            Fact("In one line", line if line != written.schedule else "", is_code=True),
        ]
    return [
        *rows,
        *source.facts(spec.identity),
        Fact("Timeout", format_duration(spec.timeout) if spec.timeout is not None else ""),
        Fact("Retries", f"{spec.retries}, after {format_duration(spec.retry_delay)}" if spec.retries else ""),
        Fact("Policy", f"concurrency {policy.concurrency.value}, deadline {format_duration(policy.deadline)}"),
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
_OFTEN = 2  # seconds between two reloads


def run_page(source: PageSource, run_id: str, row: RunRow) -> Page:
    """Return a run and the end of its output; the browser reloads it while it is running."""
    output, zone = source.output(run_id), source.jobs.zone(row.identity)
    context = {"row": row, "zone": zone, "output": None if output is None else _end_of(output)}
    return Page("run.html", f"Run {run_id}", context, every=_OFTEN if row.state == "running" else None)


def _end_of(output: OutputReader) -> dict[str, object]:
    tail = output.tail(_TAIL)
    written = tail.text()
    text = _plain(written.decode("utf-8", "replace"))
    if tail.skipped:
        text = text.partition("\n")[2] or text
    size = tail.skipped + len(written)
    return {"tail": _TAIL // 1024 if tail.skipped else None, "size": size, "text": text}


def _plain(written: str) -> str:
    """Return output without terminal escapes; a carriage return begins a new line."""
    return _BACK.sub("\n", _TERMINAL.sub("", written))


# --- why --------------------------------------------------------------------------------------------------------------

_PERIODS = 10  # of an answer that are shown in full


def why_page(queries: JobQueries, job: str = "", at: str = "", *, refusal: str = "") -> Page:
    """Return the answer; without a job or an instant, or with a refusal, only the form that asks for them."""
    answer = _answer(queries, job, at) if job and at and not refusal else None
    context = {"job": job, "at": at, "refusal": refusal, "answer": answer}
    return Page("why.html", "Why did a job run, or not?", context, path="/why")


def _answer(queries: JobQueries, job: str, at: str) -> dict[str, object]:
    identity = queries.find(job)
    zone = queries.zone(identity)
    answer = queries.why(identity, read_moment(at, zone, queries.now()))
    record = answer.evidence
    return {
        "name": record.name,
        "identity": record.identity,
        "second": answer.second,
        "zone": zone,
        "sentence": sentence(answer),
        "has_run": answer.run is not None,
        "periods": [(each, _explained(each.decision)) for each in answer.periods[:_PERIODS]],
    }


# --- the monitor ------------------------------------------------------------------------------------------------------


def monitor_page(violations: Sequence[PropertyResult]) -> Page:
    """Return each property, whether it was violated, by whom, and what led there."""
    found = {finding.property.name: finding for finding in violations}
    suite = SUITES["kron"].properties
    rows = [
        (each, found.get(each.name), VIOLATED if each.name in found else NOT_VIOLATED)
        for each in sorted(suite, key=lambda each: each.name not in found)
    ]
    return Page("monitor.html", "Monitor", {"rows": rows, "violated": len(found)}, path="/monitor")


# --- the load ---------------------------------------------------------------------------------------------------------

SPANS = {"day": timedelta(days=1), "week": timedelta(days=7), "year": timedelta(days=365)}
_BUSIEST = 10


def load_page(queries: JobQueries, workers: ForecastWorkers, name: str) -> Page:
    """Return the load of a span that begins with the current day, in UTC."""
    now = queries.now()
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(seconds=1)
    found = workers.load(queries.definitions(), since, since + SPANS[name])
    heat = found["heat"]
    peaks = [
        {
            "unit": unit,
            "nominal": found["nominal"][unit]["count"],
            "chosen": chosen["count"],
            "at": None if chosen["at"] is None else parse_instant(chosen["at"]),
        }
        for unit, chosen in found["chosen"].items()
    ]
    context = {
        "runs": found["runs"],
        "unschedulable": found["unschedulable"],
        "peaks": peaks,
        "heat": heat_picture(heat),
        "busiest": [(name, count) for *_, name, count in nlargest(_BUSIEST, heat["cells"], key=itemgetter(3))],
        "starts": heat["listed"],
    }
    return _load_of(name, context)


def waiting_page(name: str) -> Page:
    """Return the page that is shown while the load is counted; the browser reloads it."""
    return _load_of(name, {"peaks": None})


def _load_of(name: str, context: Mapping[str, object]) -> Page:
    return Page("load.html", f"Load: one {name}", {"spans": list(SPANS), "span": name, **context}, path="/load")
