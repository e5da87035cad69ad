"""overview(sight, search, page) -> bytes: what runs now, what comes, what went wrong, and all jobs."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

from kron._version import __version__
from kron.console.output import pluralize
from kron.decision.decision import Decision
from kron.engine.jobs.job_state import JobState
from kron.hosts.krond.failed_file import finding_text, label_of
from kron.hosts.krond.upcoming import clock_ahead
from kron.hosts.krond.web.document import document, feeds, notice, section
from kron.hosts.krond.web.drawing import bands
from kron.hosts.krond.web.format import (
    ago,
    clock,
    job_link,
    last_verdict,
    moment,
    reason,
    run_link,
    verdict,
)
from kron.hosts.krond.web.html import Child, Markup, table, tag
from kron.hosts.krond.web.queries import HOUR, JobQueries, UpcomingRuns
from kron.instant import Instant
from kron.rules.evidence import ahead_text
from kron.rules.history import RunRow
from kron.rules.periods import effective_time

PAGE = 50  # jobs on one
_RUNNING = 50  # runs
_LOOKED_AT = 300  # the newest troubles
_TROUBLED = 30  # jobs
_TICKS = 6  # of the hour


def overview(sight: JobQueries, search: str = "", page: int = 0) -> bytes:
    """Return the page; of the jobs those that have `search` in their names, from `page` on."""
    now = sight.now()
    return document(
        "Overview",
        _state(sight),
        section("running", "Running now", _running(sight, now)),
        section("troubles", "Failed, missed or skipped", _troubles(sight.troubles(_LOOKED_AT))),
        section("next-hour", "The next hour", _next_hour(sight.next_hour(now), now), feeds()),
        section("jobs", "Jobs", _search(search), _jobs(sight, search, page, now)),
        now=now,
        path="/",
    )


def _state(sight: JobQueries) -> Child:
    surface, jobs = sight.surface, sight.jobs()
    how = "draining: it starts nothing any more" if surface.draining else "ready" if surface.ready else "starting"
    if (failed_ledger := sight.failed_ledger()) is not None and surface.ready and not surface.draining:
        how = "not able to record"
    held = sum(job.is_suspended for job in jobs)
    parts: list[Child] = [
        tag(
            "p",
            f"krond {__version__} is {how}, since ",
            moment(surface.started_at),
            f". {pluralize(len(jobs), 'job')}, {held} suspended.",
        )
    ]
    if failed_ledger is not None:
        parts.append(notice(f"Starts nothing: {failed_ledger.error}, since ", moment(failed_ledger.since), "."))
    failed = {each.file for each in surface.failed_files}
    for finding in surface.failed_reload or ():
        if finding["file"] not in failed:
            parts.append(notice(f"Not reloaded: {finding_text(finding)}"))
    for file in surface.failed_files:
        label = label_of(file.since, file.keeps_jobs).capitalize()
        parts += [notice(f"{label}: {finding_text(each)}") for each in file.findings]
    if (ahead := clock_ahead(jobs, sight.now())) is not None:
        periods = f"Periods of {pluralize(ahead.count, 'job')} were {ahead_text(ahead.until)}"
        parts.append(notice(f"{periods}; these jobs wait, unless you trigger one.", kind="odd"))
    if found := sight.violations:
        parts.append(
            notice(f"{len(found)} properties are violated: ", tag("a", "what the monitor says", href="/monitor"))
        )
    return tag("div", parts, id="state", role="status", data_live=True)


def _running(sight: JobQueries, now: Instant) -> Child:
    found = sight.running()
    rows = [
        (
            job_link(run.work.name, run.attempt.identity),
            moment(run.attempt.started),
            ago(run.attempt.started, now),
            "" if run.handle is None else run.handle.pid,
            run_link(run.run_id),
        )
        for run in found[:_RUNNING]
    ]
    more = tag("p", f"and {len(found) - _RUNNING} more") if len(found) > _RUNNING else None
    return [table("Runs", ("Job", "Since", "For", "Process", "Run"), rows, empty="Nothing runs."), more]


def _next_hour(found: UpcomingRuns, now: Instant) -> Child:
    ticks = [tag("span", clock(now + HOUR * number / _TICKS)[:5]) for number in range(_TICKS)]
    heads = ("Job", "First", tag("span", ticks, class_="ticks"))
    rows = [_line(job, decisions, now) for job, decisions in found.rows]
    told = f"{pluralize(found.jobs, 'job')} to start within the hour"
    more = f"; the first {len(rows)} are drawn" if found.jobs > len(rows) else ""
    legend = "A band is a window, a mark the chosen second."
    return [
        tag("p", f"{told}{more}. {legend}", class_="legend") if rows else None,
        tag("div", table("Windows and chosen seconds", heads, rows, empty="Nothing comes."), class_="timeline"),
    ]


def _line(job: JobState, decisions: Sequence[Decision], now: Instant) -> tuple[Child, ...]:
    first = decisions[0]
    many = f", and {len(decisions) - 1} more" if len(decisions) > 1 else ""
    label = (
        f"{clock(effective_time(first))}, of the window {clock(first.window_start)} to {clock(first.window_end)}{many}"
    )
    when = clock(effective_time(first)) if first.chosen_time is not None else f"none: {first.reason}"
    link = job_link(job.record.name, job.record.identity)
    return link, when, bands(now, now + HOUR, decisions, label)


def _troubles(rows: list[RunRow]) -> Child:
    """Return the newest trouble of each job: one that fails every minute does not hide the others."""
    newest = {row.identity: row for row in reversed(rows)}
    times = Counter(row.identity for row in rows)
    jobs = list(times)
    lines = [
        (
            job_link(row.name, identity),
            moment(row.due),
            verdict(row),
            reason(row),
            f"×{times[identity]}" if times[identity] > 1 else "",
            run_link(row.run_id),
        )
        for identity, row in ((identity, newest[identity]) for identity in jobs[:_TROUBLED])
    ]
    more = tag("p", f"and {pluralize(len(jobs) - _TROUBLED, 'job')} more") if len(jobs) > _TROUBLED else None
    heads = ("Job", "Last", "What", "Why", "Lately", "Run")
    return [table("Troubles, the newest first", heads, lines, empty="No run failed, was missed or was skipped."), more]


# --- all jobs ---------------------------------------------------------------------------------------------------------


def _search(search: str) -> Markup:
    field = tag("input", type="search", name="q", id="q", value=search)
    return tag("form", tag("label", "Name or identity", for_="q"), field, tag("button", "Search"), role="search")


def _jobs(sight: JobQueries, search: str, page: int, now: Instant) -> Child:
    jobs = sight.jobs()
    if search:
        word = search.casefold()
        jobs = [job for job in jobs if word in job.record.name.casefold() or word in job.record.identity.casefold()]
    shown = jobs[page * PAGE : (page + 1) * PAGE]
    heads = ("Job", "Schedule", "Zone", "Next", "Last")
    return [
        table("Jobs", heads, [_job(sight, job, now) for job in shown], empty="No such job."),
        _pages(len(jobs), search, page),
    ]


def _job(sight: JobQueries, job: JobState, now: Instant) -> tuple[Child, ...]:
    found = sight.host_job(job)
    busy = tag("span", f"{len(job.active)} running", class_="badge busy") if job.active else None
    return (
        job_link(found.name, found.identity),
        tag("code", found.schedule),
        found.timezone,
        _coming(sight, job, now),
        busy or last_verdict(*sight.last.get(found.identity, (None, None))),
    )


def _coming(sight: JobQueries, job: JobState, now: Instant) -> Child:
    if job.is_suspended:
        until = job.record.suspended_until
        return [tag("span", "suspended", class_="badge odd"), [" until ", moment(until)] if until is not None else None]
    first = next(iter(sight.decisions(job, now, 1)), None)
    if first is None:
        return None
    return moment(first.chosen_time) or tag("span", "finds no second", class_="badge bad", title=first.reason)


def _pages(count: int, search: str, page: int) -> Child:
    if count <= PAGE:
        return None
    last = (count - 1) // PAGE

    def way(name: str, to: int) -> Child:
        asked = urlencode({"page": to, **({"q": search} if search else {})})
        return tag("a", name, href=f"/?{asked}#jobs", rel="next" if to > page else "prev") if 0 <= to <= last else None

    told = tag("span", f"{page * PAGE + 1} to {min(count, (page + 1) * PAGE)} of {count}")
    return tag("nav", way("Earlier", page - 1), told, way("Further", page + 1), class_="pages", aria_label="Jobs")
