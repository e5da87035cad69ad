"""krond why | explain: why a job did, or did not, run at a time, and how the second of a period was chosen."""

from collections.abc import Iterator
from pathlib import Path

import click

from kron.adapters.sqlite_ledger.job_history import JobHistory
from kron.adapters.system_now import system_now
from kron.cron.wall_text import both_texts
from kron.errors import ControlError, printable
from kron.hosts.console import print_json
from kron.hosts.explanation import (
    explained,
    period_lines,
    policy_line,
    print_decision,
    print_expression,
    print_lines,
    print_period,
)
from kron.hosts.krond.asking import JSON, STATE
from kron.hosts.krond.looking import identity_of, opened, zone_of
from kron.hosts.krond.state import State
from kron.hosts.moments import read_moment
from kron.instant import Instant, parse_instant
from kron.rules.answer import Answer, Episode
from kron.rules.answer_text import how_it_ended, sentence, to_dict
from kron.rules.clock_ahead import ahead_text
from kron.rules.coming import Coming
from kron.rules.history_row import RANGE
from kron.rules.inside import timing_of
from kron.rules.job import Job
from kron.rules.work import timing_and_policy

_AT = "RFC 3339, or YYYY-MM-DD HH:MM[:SS] or HH:MM[:SS] (today) in the job's zone."


@click.command()
@click.argument("job")
@click.option("--at", "at", metavar="T", required=True, help=_AT)
@STATE
@JSON
def why(job: str, *, at: str, state: Path | None, as_json: bool) -> None:
    """Say why a JOB did, or did not, run at T: exit 0 if something ran then, 1 if nothing did."""
    answer = _asked(opened(state), job, at)
    if as_json:
        print_json(to_dict(answer))
    else:
        click.secho(printable(sentence(answer)), fg="green" if answer.run else "yellow", bold=True)
        for episode in answer.episodes:
            _print_episode(answer, episode)
    click.get_current_context().exit(0 if answer.run else 1)


@click.command()
@click.argument("job")
@click.option("--at", "at", metavar="T", help=f"{_AT} [default: the next period]")
@STATE
@JSON
def explain(job: str, *, at: str | None, state: Path | None, as_json: bool) -> None:
    """Explain how the second of a period of a JOB was or will be chosen, by the definition that held."""
    place = opened(state)
    episode = _next(place, job) if at is None else next(iter(_asked(place, job, at).episodes), None)
    if episode is None:
        raise ControlError(reason=f"no period of {job} has to do with {at}; `krond why` names the nearest")
    decision, definition = episode.decision, episode.definition
    if as_json:
        print_json([explained(decision)])
        return
    timing, policy = timing_and_policy(decision.identity, definition)
    assert timing is not None
    text = Job(timing, policy)
    print_expression(text)
    print_period(text, decision)
    print_decision(decision)


def _asked(place: State, job: str, at: str) -> Answer:
    history = JobHistory(place.ledger)
    identity = identity_of(place, history, job)
    moment = read_moment(at, zone_of(history, identity), system_now())
    return Answer(history.inquire(identity, moment, system_now()))


def _next(place: State, job: str) -> Episode:
    """Return the period of a job that comes next."""
    history = JobHistory(place.ledger)
    identity, now = identity_of(place, history, job), system_now()
    inquiry = history.inquire(identity, now, now)
    if not inquiry.record.declared:
        raise ControlError(reason=f"{job} is not defined any more; ask for a period with --at")
    timing, _ = timing_and_policy(identity, inquiry.definition)
    if timing is None:
        raise ControlError(reason=f"{job} has no periods: it runs when the machine is started")
    coming = Coming(timing, max(now, inquiry.record.declared_at, inquiry.record.served))
    while (at := coming.next_instant()) is not None:
        decision = coming.take(at)
        assert decision is not None
        for episode in Answer(history.inquire(identity, decision.nominal_time, now)).episodes:
            if episode.decision == decision and episode.row["outcome"] is None:
                return episode
    raise ControlError(reason=f"no period of {job} is to come")


# --- for people -------------------------------------------------------------------------------------------------------


def _print_episode(answer: Answer, episode: Episode) -> None:
    click.echo()
    click.secho(f"Period {episode.decision.period_id}", bold=True)
    print_lines(_lines(answer, episode))


def _lines(answer: Answer, episode: Episode) -> Iterator[tuple[str, str]]:
    row, decision, policy = episode.row, episode.decision, episode.policy
    timing = timing_of(decision.identity, episode.definition)
    zone = timing.schedule.zone
    yield from period_lines(timing, decision)
    if row["chosen_time"] is not None and decision.chosen_time != episode.due:
        yield "", f"recorded, with the time zone data of then: {both_texts(zone, episode.due)}"
    yield "policy", f"{policy_line(policy)}{', suspended by its file' if policy.suspend else ''}"
    if episode.definition != answer.inquiry.definition:
        yield "", "of an earlier definition of the job, which held for this period"
    yield from _outcome(episode)


def _outcome(episode: Episode) -> Iterator[tuple[str, str]]:
    row = episode.row
    if row["outcome"] is None:
        yield "outcome", f"none, {row['state']}: {row['detail']}"
        return
    reason = f", {row['reason']}" if row["reason"] else ""
    detail = f": {row['detail']}" if row["detail"] else ""
    yield "outcome", f"{row['outcome']}{reason}{detail}"
    if episode.ahead is not None:
        yield "", ahead_text(episode.ahead)
    if row["kind"] == RANGE:
        yield "", f"one of {row['count']} periods from {row['first_period_id']} until {row['last_period_id']}"
    if row["run_id"] is not None:
        zone = episode.decision.terms.zone
        late = f", {row['lateness']} s late" if row["lateness"] else ""
        yield "run", f"{row['run_id']}, {how_it_ended(row)}, attempt {row['attempt']} of {row['attempts']}"
        yield "", f"began {both_texts(zone, _instant(row['started_at']))}{late}"
        if row["ended_at"] is not None:
            yield "", f"ended {both_texts(zone, _instant(row['ended_at']))}, after {row['duration']} s"


def _instant(text: object) -> Instant:
    return parse_instant(str(text)).replace(microsecond=0)
