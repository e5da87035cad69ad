"""krond status | jobs | next | suspend | resume | trigger | reload | stop: what is asked of a running krond."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from kron.console.output import pluralize, print_json, print_table
from kron.console.parameters import CommandDecorator, NonEmptyPath
from kron.cron.wall_time import format_local
from kron.cron.zone import load_zone
from kron.errors.base import safe_line
from kron.hosts.krond.control_client import ControlClient
from kron.hosts.krond.control_protocol import MOST_NEXT
from kron.hosts.krond.daemon_status import finding_text, label_of
from kron.hosts.krond.state_directory import StateDirectory, default_state_directory
from kron.instant import parse_instant

STATE: CommandDecorator = click.option(
    "--state",
    type=NonEmptyPath(path_type=Path, readable=False),  # the command that reads it reports what is wrong
    help="State directory of krond. [env var: KROND_STATE; default: /var/lib/krond, of users ~/.local/state/krond]",
)
JSON: CommandDecorator = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def connect(state: Path | None) -> closing[ControlClient]:
    """Return a connection to the krond of a state directory; what it answers is escaped when it is printed."""
    return closing(ControlClient(StateDirectory((state or default_state_directory()).absolute()).control))


@click.command()
@STATE
@JSON
def status(state: Path | None, *, as_json: bool) -> None:
    """Show whether krond is ready, and its active runs.

    Exits with 1 if krond does not run, is not ready, or cannot record starts.
    """
    with connect(state) as krond:
        found = krond.ask("status")
    if as_json:
        print_json(found)
    else:
        _print_status(found)
    click.get_current_context().exit(0 if found["ready"] and found.get("failed_ledger") is None else 1)


def _print_status(found: dict[str, Any]) -> None:
    failed_ledger = found.get("failed_ledger")
    how = "is starting" if not found["ready"] else "is ready" if failed_ledger is None else "cannot record"
    how = "drains" if found["draining"] else how
    _print(f"krond {found['version']} {how}, process {found['pid']}, since {found['started_at']}")
    _print(f"{pluralize(found['jobs'], 'job')} of {', '.join(found['config'])}; state in {found['state']}")
    if failed_ledger is not None:
        _print(f"starts nothing: {failed_ledger['error']}, since {failed_ledger['since']}; krond tries again", fg="red")
    if found["listen"] != "off":
        _print(f"page at {found['listen']}")
    if (failed_listen := found.get("failed_listen")) is not None:
        _print(f"no page: {failed_listen['error']}; krond tries again", fg="yellow")
    failed_files: list[dict[str, Any]] = found["failed_files"]
    names = {failed["file"] for failed in failed_files}
    for finding in found["failed_reload"] or ():
        if finding["file"] not in names:
            _print(f"not reloaded: {finding_text(finding)}", fg="yellow")
    for failed in failed_files:
        label = label_of(failed.get("since"), failed.get("keeps_jobs"))
        for finding in failed["findings"]:
            _print(f"{label}: {finding_text(finding)}", fg="yellow")
    for job in found.get("set_aside", ()):
        _print(f"set aside: {job['identity']}: {job['error']}; please report this", fg="yellow")
    if (ahead := found["clock_ahead"]) is not None:
        periods = f"periods of {pluralize(ahead['count'], 'job')} were {ahead['detail']}"
        _print(f"{periods}; these jobs wait, and krond trigger JOB starts one now", fg="yellow")
    rows = [(run["run_id"], run["identity"], str(run["pid"] or ""), run["started_at"]) for run in found["active"]]
    print_table(("run", "job", "pid", "since"), rows, empty="nothing runs")


def _print(text: str, *, fg: str | None = None, err: bool = False) -> None:
    """Print one line of what krond has answered."""
    click.secho(safe_line(text), fg=fg, err=err)


@click.command()
@STATE
@JSON
def jobs(state: Path | None, *, as_json: bool) -> None:
    """List the jobs with their next start and last result."""
    with connect(state) as krond:
        found = krond.ask("jobs")
    if as_json:
        print_json(found)
        return
    rows = [
        (
            job["name"],
            job["schedule"],
            job["timezone"],
            "suspended" if job["suspended"] else _local(job["next_chosen_time"], job["timezone"]),
            str(job["active"] or ""),
            job["last_result"] or job["last_outcome"] or "",
        )
        for job in found
    ]
    print_table(("job", "schedule", "zone", "next", "active", "last"), rows, empty="no jobs")


@click.command("next")
@click.argument("job", required=False)
@click.option("--count", "-n", type=click.IntRange(1, MOST_NEXT), default=10, help="Number of starts.")
@STATE
@JSON
def next_(job: str | None, *, count: int, state: Path | None, as_json: bool) -> None:
    """List the next starts of one JOB or of all jobs."""
    with connect(state) as krond:
        found = krond.ask("next", job=job, count=count)
    if as_json:
        print_json(found)
        return
    is_local = any(each["timezone"] != "UTC" for each in found)
    rows = [
        (
            each["chosen_time"] or "none",
            each["name"],
            each["nominal_time"],
            *([_local(each["chosen_time"] or each["nominal_time"], each["timezone"])] if is_local else []),
            "suspended" if each["suspended"] else each["reason"] or "",
        )
        for each in found
    ]
    heads = ("chosen", "job", "nominal", *(["in its zone"] if is_local else []), "")
    print_table(heads, rows, empty="nothing comes")


def _local(text: str | None, zone: str) -> str:
    """Return an instant on the wall clock of a job."""
    return text or "" if text is None or zone == "UTC" else format_local(load_zone(zone), parse_instant(text))


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="JOB...")
@click.option("--until", metavar="T", help="Resume at this time, or after this duration. [default: never]")
@STATE
def suspend(names: Sequence[str], *, until: str | None, state: Path | None) -> None:
    """Suspend jobs until they are resumed, also across restarts."""
    with connect(state) as krond:
        found = krond.ask("suspend", jobs=list(names), until=until)
    tail = f" until {found['until']}" if found["until"] else ""
    for identity in found["identities"]:
        _print(f"suspended {identity}{tail}")


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="JOB...")
@STATE
def resume(names: Sequence[str], *, state: Path | None) -> None:
    """Resume suspended jobs.

    A period that came due meanwhile starts if its deadline is not over, else it is recorded as missed.
    """
    with connect(state) as krond:
        found = krond.ask("resume", jobs=list(names))
    for identity in found["identities"]:
        _print(f"resumed {identity}")


@click.command()
@click.argument("job")
@click.option("--wait", is_flag=True, help="Wait for the end of the run; exit 0 if it succeeded, else 1.")
@STATE
def trigger(job: str, *, wait: bool, state: Path | None) -> None:
    """Run a JOB now, outside its periods, and print the run's id."""
    with connect(state) as krond:
        run_id = krond.ask("trigger", job=job)
        _print(run_id)
        if wait:
            result = krond.ask("wait", run_id=run_id)
            click.get_current_context().exit(0 if result == "succeeded" else 1)


@click.command()
@STATE
@JSON
def reload(state: Path | None, *, as_json: bool) -> None:
    """Reload the job files, as SIGHUP does.

    Exits with 1 if a file has errors; the jobs of that file stay as they are.
    """
    with connect(state) as krond:
        found = krond.ask("reload")
    ok, findings = found.pop("ok"), found.pop("findings", [])
    is_declared = "declared_at" in found
    if as_json:
        print_json(found if is_declared else findings)
    else:
        for finding in findings:
            _print(finding_text(finding), err=True)
        if is_declared:
            _print_changes(found)
    click.get_current_context().exit(0 if ok else 1)


def _print_changes(found: dict[str, Any]) -> None:
    _print(f"declared at {found['declared_at']}")
    for word in ("added", "changed", "removed"):
        for identity in found[word]:
            _print(f"{word} {identity}")
    click.echo(f"unchanged: {len(found['unchanged'])}")


@click.command()
@click.option("--now", is_flag=True, help="Terminate active runs instead of waiting for them.")
@STATE
def stop(*, now: bool, state: Path | None) -> None:
    """Drain krond and wait until its process has ended."""
    with connect(state) as krond:
        krond.stop(now=now)
