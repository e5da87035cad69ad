"""krond status | jobs | next | suspend | resume | trigger | reload | stop: what is asked of a running krond."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from kron.cron.wall_text import local_text
from kron.cron.zone import load_zone
from kron.hosts.console import counted, print_table
from kron.hosts.given_path import GivenPath
from kron.hosts.krond.client import Client
from kron.hosts.krond.state import State, default_state
from kron.instant import parse_instant
from kron.rules.finding import Finding

Decorator = Callable[[Callable[..., Any]], Any]

STATE: Decorator = click.option(
    "--state",
    type=GivenPath(path_type=Path, readable=False),  # who may not is told by whoever needs it
    help="The state directory of krond. [default: $KROND_STATE, or krond's]",
)
JSON: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def asking(state: Path | None) -> Iterator[Client]:
    """Yield a connection to the krond of a state directory."""
    client = Client(State((state or default_state()).absolute()).control)
    try:
        yield client
    finally:
        client.close()


def print_json(value: object) -> None:
    """Print a value as people and scripts can read it."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=1))


@click.command()
@STATE
@JSON
def status(state: Path | None, *, as_json: bool) -> None:
    """Say whether krond runs, and what it does now. Exit 1 if none runs, or it is not ready yet."""
    with asking(state) as krond:
        found = krond.ask("status")
    if as_json:
        print_json(found)
    else:
        _print_status(found)
    click.get_current_context().exit(0 if found["ready"] else 1)


def _print_status(found: dict[str, Any]) -> None:
    how = "drains" if found["draining"] else "is ready" if found["ready"] else "is starting"
    click.echo(f"krond {found['version']} {how}, process {found['pid']}, since {found['started_at']}")
    click.echo(f"{counted(found['jobs'], 'job')} of {', '.join(found['config'])}; state in {found['state']}")
    if found["listen"] != "off":
        click.echo(f"page at {found['listen']}")
    reload: list[dict[str, Any]] = found["failed_reload"] or []
    for finding in reload:
        click.secho(f"not reloaded: {_finding(finding)}", fg="yellow")
    for finding in (each for failed in found["failed_files"] for each in failed["findings"]):
        if finding not in reload:
            click.secho(f"failed file: {_finding(finding)}", fg="yellow")
    for job in found["set_aside"]:
        click.secho(f"set aside: {job['identity']}: {job['error']}; please report this", fg="yellow")
    if (ahead := found["clock_ahead"]) is not None:
        periods = f"periods of {counted(ahead['count'], 'job')} were {ahead['detail']}"
        click.secho(f"{periods}; these jobs wait, and krond trigger JOB starts one now", fg="yellow")
    rows = [(run["run_id"], run["identity"], str(run["pid"] or ""), run["started_at"]) for run in found["active"]]
    print_table(("run", "job", "pid", "since"), rows, empty="nothing runs")


def _finding(found: dict[str, Any]) -> str:
    """Return a finding as `check` prints it."""
    return str(Finding(**found))


@click.command()
@STATE
@JSON
def jobs(state: Path | None, *, as_json: bool) -> None:
    """List the jobs, when each comes next, and how it ended last."""
    with asking(state) as krond:
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
@click.option("--count", "-n", type=click.IntRange(1, 100_000), default=10, show_default=True, help="How many.")
@STATE
@JSON
def next_(job: str | None, *, count: int, state: Path | None, as_json: bool) -> None:
    """Show what comes, of one JOB or of all together, in the order of chosen times."""
    with asking(state) as krond:
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
    return text or "" if text is None or zone == "UTC" else local_text(load_zone(zone), parse_instant(text))


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="JOB...")
@click.option("--until", metavar="T", help="A moment, or a duration from now.")
@STATE
def suspend(names: Sequence[str], *, until: str | None, state: Path | None) -> None:
    """Hold jobs, also over restarts: nothing of them is handled until they are resumed."""
    with asking(state) as krond:
        found = krond.ask("suspend", jobs=list(names), until=until)
    tail = f" until {found['until']}" if found["until"] else ""
    for identity in found["identities"]:
        click.echo(f"suspended {identity}{tail}")


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="JOB...")
@STATE
def resume(names: Sequence[str], *, state: Path | None) -> None:
    """Let jobs go on; what came meanwhile is judged by its deadline."""
    with asking(state) as krond:
        found = krond.ask("resume", jobs=list(names))
    for identity in found["identities"]:
        click.echo(f"resumed {identity}")


@click.command()
@click.argument("job")
@click.option("--wait", is_flag=True, help="Wait for the end; exit 0 if it succeeded, else 1.")
@STATE
def trigger(job: str, *, wait: bool, state: Path | None) -> None:
    """Run a JOB now, outside its periods, and print the name of the run."""
    with asking(state) as krond:
        run_id = krond.ask("trigger", job=job)
        click.echo(run_id)
        if wait:
            result = krond.ask("wait", run_id=run_id)
            click.get_current_context().exit(0 if result == "succeeded" else 1)


@click.command()
@STATE
@JSON
def reload(state: Path | None, *, as_json: bool) -> None:
    """Read the job files again, as SIGHUP does. Exit 1 if a file has errors: its jobs stay as they are."""
    with asking(state) as krond:
        found = krond.ask("reload")
    ok, findings = found.pop("ok"), found.pop("findings", [])
    is_declared = "declared_at" in found
    if as_json:
        print_json(found if is_declared else findings)
    else:
        for finding in findings:
            click.echo(_finding(finding), err=True)
        if is_declared:
            _print_changes(found)
    click.get_current_context().exit(0 if ok else 1)


def _print_changes(found: dict[str, Any]) -> None:
    click.echo(f"declared at {found['declared_at']}")
    for word in ("added", "changed", "removed"):
        for identity in found[word]:
            click.echo(f"{word} {identity}")
    click.echo(f"unchanged: {len(found['unchanged'])}")


@click.command()
@click.option("--now", is_flag=True, help="End what runs at once.")
@STATE
def stop(*, now: bool, state: Path | None) -> None:
    """Stop krond, and return when it has gone: when nothing runs any more."""
    with asking(state) as krond:
        krond.stop(now=now)
