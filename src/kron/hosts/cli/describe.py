"""kron describe LINE: a schedule line in plain English."""

import json

import click

from kron.cron.description import describe as describe_expression
from kron.hosts.cli.options import DIALECT, LINE, read_job
from kron.instant import ZERO, format_duration
from kron.rules.job import Job
from kron.rules.policy import Policy


@click.command()
@LINE
@DIALECT
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object with the description and canonical text.")
def describe(line: str, dialect: str, *, as_json: bool) -> None:
    """Say in plain English what LINE means."""
    job = read_job(line, dialect=dialect)
    schedule = job.timing.schedule
    text = describe_expression(schedule.expression)
    if as_json:
        answer = {"description": text, "canonical": schedule.expression.canonical, "timezone": schedule.timezone}
        click.echo(json.dumps({**answer, "details": describe_job(job)}, ensure_ascii=False))
        return
    click.echo(f"{text}, {schedule.timezone}")
    for sentence in describe_job(job):
        click.echo(sentence)


def describe_job(job: Job) -> list[str]:
    """Return one sentence for each part of a line that differs from the defaults."""
    timing, policy = job.timing, job.policy
    sentences = []
    if timing.window.duration > ZERO:
        how = {"after": "after each nominal time", "around": "around each nominal time"}[timing.window.mode.value]
        resolved = timing.terms.distribution
        params = "".join(f", {key} {value}" for key, value in resolved.to_params().items())
        window = format_duration(timing.window.duration)
        sentences.append(f"Runs at one second within {window} {how}, chosen by {resolved.name}{params}")
        sentences.append(f"The second is new every {_SEED_UNIT[timing.seed.strategy.value]}{_salt(timing.seed.salt)}")
    sentences += [f"Only when {text}" for text in timing.constraints.only.texts]
    sentences += [f"Never when {text}" for text in timing.constraints.avoid.texts]
    if policy != Policy():
        late = f"at most {format_duration(policy.deadline)} late" if policy.deadline else "never late"
        sentences.append(f"Starts {late}; a run that overlaps is handled by {policy.concurrency.value}")
    return sentences + (["Suspended"] if policy.suspend else [])


def _salt(salt: str) -> str:
    return f", salted with {salt!r}" if salt else ""


_SEED_UNIT = {"stable": "period", "daily": "day", "weekly": "week"}
