"""krond why | explain: why a job did, or did not, run at a time, and how the second of a period was chosen."""

from collections.abc import Iterator
from pathlib import Path

import click

from kron.adapters.system_time import system_now
from kron.console.drawing import print_decision, print_expression, print_facts, print_period
from kron.console.output import print_json
from kron.console.parameters import naming
from kron.cron.wall_time import format_utc_and_local, read_moment
from kron.decision.seed import period_id
from kron.errors import ControlError, escape_unprintable
from kron.hosts.krond.commands.control import JSON, STATE
from kron.hosts.krond.commands.history import find_job, job_zone, open_history, open_state
from kron.hosts.krond.state_directory import StateDirectory
from kron.jobfile.job import Job
from kron.rules.evidence import ahead_text
from kron.rules.job_spec import parse_definition, parse_timing
from kron.rules.periods import PeriodQueue
from kron.why.decision_steps import decision_steps, period_facts, policy_text
from kron.why.explanation import ExplainedPeriod, Explanation, how_it_ended, sentence, to_dict

_AT = "Time: RFC 3339, or YYYY-MM-DD HH:MM or HH:MM in the job's zone."


@click.command()
@click.argument("job")
@click.option("--at", "at", metavar="T", required=True, help=_AT)
@STATE
@JSON
def why(job: str, *, at: str, state: Path | None, as_json: bool) -> None:
    """Explain why a JOB ran, or did not run, at a time.

    Exits with 0 if a run started for that time, else with 1.
    """
    answer = _asked(open_state(state), job, at)
    if as_json:
        print_json(to_dict(answer))
    else:
        click.secho(escape_unprintable(sentence(answer)), fg="green" if answer.run else "yellow", bold=True)
        for episode in answer.periods:
            _print_episode(answer, episode)
    click.get_current_context().exit(0 if answer.run else 1)


@click.command()
@click.argument("job")
@click.option("--at", "at", metavar="T", help=f"{_AT} [default: the next period]")
@STATE
@JSON
def explain(job: str, *, at: str | None, state: Path | None, as_json: bool) -> None:
    """Show step by step how a second of a JOB is chosen.

    Uses the definition that was in force for the period.
    """
    place = open_state(state)
    episode = _next(place, job) if at is None else next(iter(_asked(place, job, at).periods), None)
    if episode is None:
        raise ControlError(reason=f"no period of {job} belongs to {at}; `krond why` names the nearest")
    decision = episode.decision
    if as_json:
        print_json([decision_steps(decision)])
        return
    text = Job(parse_timing(decision.identity, episode.definition or ""), episode.policy)
    print_expression(text)
    print_period(text, decision)
    print_decision(decision)


def _asked(place: StateDirectory, job: str, at: str) -> Explanation:
    history = open_history(place)
    identity = find_job(place, history, job)
    with naming("--at"):
        moment = read_moment(at, job_zone(history, identity), system_now())
    return Explanation(history.evidence(identity, moment, system_now()))


def _next(place: StateDirectory, job: str) -> ExplainedPeriod:
    """Return the next period of a job."""
    history = open_history(place)
    identity, now = find_job(place, history, job), system_now()
    record = history.job(identity)
    if record is None or not record.is_declared:
        raise ControlError(reason=f"{job} is no longer defined; give the time of a period with --at")
    timing, _ = parse_definition(identity, history.definition(record.definition_key) or "")
    if timing is None:
        raise ControlError(reason=f"{job} has no periods: it runs when the machine is started")
    coming = PeriodQueue(timing, max(now, record.declared_at, record.handled_until))
    while (at := coming.next_time()) is not None:
        decision = coming.pop(at)
        assert decision is not None
        for episode in Explanation(history.evidence(identity, decision.nominal_time, now)).periods:
            if episode.decision == decision and episode.row.outcome is None:
                return episode
    raise ControlError(reason=f"no period of {job} is to come")


# --- for people -------------------------------------------------------------------------------------------------------


def _print_episode(answer: Explanation, episode: ExplainedPeriod) -> None:
    click.echo()
    click.secho(f"Period {episode.decision.period_id}", bold=True)
    print_facts(_lines(answer, episode))


def _lines(answer: Explanation, episode: ExplainedPeriod) -> Iterator[tuple[str, str]]:
    row, decision, policy = episode.row, episode.decision, episode.policy
    timing = parse_timing(decision.identity, episode.definition or "")
    zone = timing.schedule.zone
    yield from period_facts(timing, decision)
    if row.chosen_time is not None and decision.chosen_time != episode.effective_time:
        yield "", f"recorded, with the time zone data of then: {format_utc_and_local(zone, episode.effective_time)}"
    yield "policy", f"{policy_text(policy)}{', suspended by its file' if policy.suspend else ''}"
    if episode.definition != answer.evidence.definition:
        yield "", "of an earlier definition of the job, which held for this period"
    yield from _outcome(episode)


def _outcome(episode: ExplainedPeriod) -> Iterator[tuple[str, str]]:
    row = episode.row
    if row.outcome is None:
        yield "outcome", f"none, {row.state}: {row.detail}"
        return
    reason = f", {row.reason}" if row.reason else ""
    detail = f": {row.detail}" if row.detail else ""
    yield "outcome", f"{row.outcome.value}{reason}{detail}"
    if episode.ahead is not None:
        yield "", ahead_text(episode.ahead)
    if row.first is not None and row.last is not None:
        yield "", f"one of {row.period_count} periods from {period_id(row.first)} until {period_id(row.last)}"
    if row.started_at is not None:
        zone = episode.decision.terms.zone
        late = f", {row.lateness} s late" if row.lateness else ""
        yield "run", f"{row.run_id}, {how_it_ended(row)}, attempt {row.attempt} of {row.attempts}"
        yield "", f"began {format_utc_and_local(zone, row.started_at.replace(microsecond=0))}{late}"
        if row.ended_at is not None:
            ended = format_utc_and_local(zone, row.ended_at.replace(microsecond=0))
            yield "", f"ended {ended}, after {row.duration} s"
