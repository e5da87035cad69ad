"""What is drawn on a terminal: the steps from the text to the chosen second, window bars and heat maps."""

import json
from collections.abc import Iterable, Iterator, Sequence
from shutil import get_terminal_size

import click

from kron.console.output import display_width, pad
from kron.cron.description import describe
from kron.cron.wall_time import format_utc_and_local
from kron.decision.decide import Candidate, candidates
from kron.decision.decision import Decision
from kron.decision.feasibility import Feasibility, feasibility
from kron.errors import CronCalculationError, escape_unprintable
from kron.errors.base import safe_json, safe_line
from kron.forecast.forecast import HeatMap
from kron.instant import MICROSECOND, SECOND, Instant
from kron.jobfile.job import Job
from kron.why.decision_steps import parameters_text

_WIDEST_BAR = 64
_CELLS_A_DAY = 8
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_HEAT_LEVELS = "·▁▂▃▄▅▆▇█"
_HEAT_COLOURS = ("bright_black", "blue", "cyan", "cyan", "green", "green", "yellow", "yellow", "red")
_TENS = 10


def window_bar(decision: Decision, found: Feasibility, tried: Sequence[Candidate]) -> list[str]:
    """Return the window drawn to scale: what is allowed, where candidates were rejected, and what was chosen."""
    bar = min(_WIDEST_BAR, max(get_terminal_size((80, 24)).columns - 4, 16))
    start, seats = decision.window_start, (decision.window_end - decision.window_start) // SECOND + 1

    def column(at: Instant) -> int:
        return min(max((at - start) // SECOND * bar // seats, 0), bar - 1)

    cells = ["░"] * bar
    for first, last in found.spans:
        for position in range(column(first), column(last) + 1):
            cells[position] = "█"
    marks = [" "] * bar
    for candidate in tried:
        if candidate.rejected_by:
            marks[column(candidate.at)] = click.style("×", fg="red")
    if decision.chosen_time is not None:
        marks[column(decision.chosen_time)] = click.style("▼", fg="green", bold=True)
    under = [" "] * bar
    if start <= decision.nominal_time <= decision.window_end:
        under[column(decision.nominal_time)] = "N"
    zone = decision.terms.zone
    first_text, last_text = (f"{zone.local(at):%H:%M:%S}" for at in (start, decision.window_end))
    scale = first_text + last_text.rjust(bar - len(first_text))
    legend = "█ allowed  ░ not allowed  × rejected  ▼ chosen  N nominal"
    return ["".join(marks), "".join(cells), "".join(under), scale, legend]


def week_strips(decisions: Sequence[Decision], names: dict[str, str]) -> list[str]:
    """Return a row for each job: seven days from the first decision on, a cell for every three hours of UTC."""
    moments = [(decision.identity, decision.chosen_time or decision.window_start) for decision in decisions]
    midnight = min(at for _, at in moments).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [midnight + SECOND * 86_400 * day for day in range(7)]
    width = max(map(display_width, names.values())) + 2
    counts = {identity: [0] * 7 * _CELLS_A_DAY for identity in names}
    for identity, at in moments:
        cell = (at - midnight) // (SECOND * (86_400 // _CELLS_A_DAY))
        if cell < 7 * _CELLS_A_DAY:
            counts[identity][cell] += 1
    rows = [" " * width + "".join(f"{day:%a %d}".ljust(_CELLS_A_DAY) for day in days).rstrip()]
    for identity, name in names.items():
        cells = "".join(_EIGHTHS[min(count, 8)] if count else "·" for count in counts[identity])
        rows.append(f"{pad(name, width)}{cells}")
    return rows


def histogram(values: Sequence[int]) -> str:
    """Return one block character for each count, scaled to the greatest."""
    top = max(values, default=0) or 1
    return "".join(_EIGHTHS[-(-value * 8 // top)] for value in values)


def heat_rows(heat: HeatMap) -> Iterator[str]:
    """Yield the title, the columns and a line for each row: chosen starts, scaled to the greatest count."""
    top = max((count for row in heat.chosen for count in row), default=0)
    wide = 1 if len(heat.columns) > 24 else 2  # columns of a cell
    left = max(map(len, heat.rows)) + 1
    yield click.style(heat.title, bold=True)
    step = _TENS if wide == 1 else 3
    heads = (name.rstrip(":").ljust(wide * step) for name in heat.columns[::step])
    yield f"{' ' * left}{''.join(heads).rstrip()}"
    for name, counts in zip(heat.rows, heat.chosen, strict=True):
        yield name.ljust(left) + "".join(_cell(count, top) * wide for count in counts)
    yield f"{' ' * left}· none  {_HEAT_LEVELS[1]} few  {_HEAT_LEVELS[8]} {top}"


def _cell(count: int, top: int) -> str:
    level = -(-count * 8 // top) if count else 0
    return click.style(_HEAT_LEVELS[level], fg=_HEAT_COLOURS[level])


def print_expression(job: Job) -> None:
    """Print what the text of a job says."""
    expression = job.timing.schedule.expression
    print_heading("1 Text")
    click.echo(f"  {safe_line(job.to_line())}")
    fields = (expression.minute, expression.hour, expression.day, expression.month, expression.weekday)
    for field in fields:
        values = "every value" if field.is_full else _shortened([str(value) for value in field])
        click.echo(f"  {field.unit.name:<9}{values}")
    click.echo(f"  {describe(expression)}, {job.timing.schedule.timezone}")


def print_period(job: Job, decision: Decision) -> None:
    """Print to which minute a period belongs."""
    schedule = job.timing.schedule
    print_heading("2 Period")
    click.echo(f"  nominal   {format_utc_and_local(schedule.zone, decision.nominal_time)}")
    try:
        before = format_utc_and_local(schedule.zone, schedule.previous(decision.nominal_time - MICROSECOND))
    except (CronCalculationError, OverflowError):
        before = "none"
    click.echo(f"  before it {before}")


def print_decision(decision: Decision) -> None:
    """Print how the second of a period was chosen."""
    zone = decision.terms.zone
    found, tried = feasibility(decision, decision.nominal_time), list(candidates(decision))
    print_heading("3 Seed")
    click.echo(f"  period id   {decision.period_id}")
    click.echo(f"  period key  {decision.period_key}  ({decision.seed_strategy.value})")
    seed_text = "\n".join((decision.identity, decision.period_key, decision.salt))
    click.echo(f"  SHA-256 of  {safe_json(json.dumps(seed_text, ensure_ascii=False))}")
    click.echo(f"  seed hash   {decision.seed_hash}")
    print_heading("4 Window")
    click.echo(f"  {decision.window_mode.value}, {format_utc_and_local(zone, decision.window_start)}")
    click.echo(
        f"  until {' ' * (len(decision.window_mode.value) - 4)}{format_utc_and_local(zone, decision.window_end)}"
    )
    for row in window_bar(decision, found, tried):
        click.echo(f"  {row}".rstrip())
    _print_candidates(decision, found, tried)
    print_heading("6 Chosen")
    if decision.chosen_time is None:
        click.secho(f"  unschedulable: {decision.reason}", fg="red", bold=True)
        return
    click.secho(f"  {format_utc_and_local(zone, decision.chosen_time)}", fg="green", bold=True)
    click.echo(f"  algorithm {decision.algorithm_version}, time zone data {decision.tzdata_version}")


def print_facts(lines: Iterable[tuple[str, str]]) -> None:
    """Print heads and texts, each text under the other."""
    for head, text in lines:
        click.echo(f"  {head:<9} {escape_unprintable(text)}")


def _print_candidates(decision: Decision, found: Feasibility, tried: list[Candidate]) -> None:
    print_heading("5 Candidates")
    named = f"{decision.distribution.name}{parameters_text(decision)}"
    click.echo(f"  {named}; candidate = start + floor(x · {decision.terms.width + 1}) s")
    if decision.constraints_applied:
        for side, clauses in decision.constraints_applied.to_dict().items():
            if clauses:
                click.echo(f"  {side:<6}{'; '.join(clauses)}")
        part = "the first 400 days of the window" if found.is_partial else "the window"
        click.echo(
            f"  {_percent(found.allowed_share)} of {part} is allowed; "
            f"a period fails with probability {found.failure_probability:.2g}"
        )
    if not tried:
        click.echo("  a window of one second: nothing is drawn")
    for candidate in tried:
        verdict = f"rejected by {candidate.rejected_by}" if candidate.rejected_by else "accepted"
        colour = "red" if candidate.rejected_by else "green"
        at = format_utc_and_local(decision.terms.zone, candidate.at)
        click.echo(f"  {candidate.attempt:>3}  u={candidate.u:<20}  {at}  {click.style(verdict, fg=colour)}")


def _percent(share: float) -> str:
    """Return a share that says 0 % and 100 % only where it is."""
    return f"{share:.1%}" if share in (0, 1) else f"{min(max(share, 0.001), 0.999):.1%}"


def print_heading(text: str) -> None:
    """Print the name of a step."""
    click.secho(text, bold=True)


def _shortened(values: list[str]) -> str:
    return " ".join(values if len(values) <= 24 else [*values[:11], "…", *values[-2:]])
