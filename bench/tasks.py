"""Tasks for schedulers: a list of Kron's registrations, as a user would write it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import combinations, cycle, islice
from random import Random

from bench.schedulers.scheduler import Task
from bench.starts import started

_DELAY = timedelta(minutes=5)
_MONTHS, _DAYS, _HOURS, _MINUTES = range(1, 13), range(1, 29), range(24), range(60)
SAME_EXPRESSION = 10  # in idle lists, how many tasks share an expression


def due_together(size: int, at: datetime) -> list[Task]:
    """Return tasks that are all due at an instant, and next an hour later at the earliest.

    There are 253 expressions among them, each with two more hours than the one that matters.
    """
    texts = []
    for pair in combinations((hour for hour in _HOURS if hour != at.hour), 2):
        hours = ",".join(str(hour) for hour in sorted((at.hour, *pair)))
        texts.append(f"{at.minute} {hours} * * *")
    return _tasks(size, cycle(texts))


def due_again(size: int, cron: str) -> list[Task]:
    """Return tasks of one expression."""
    return _tasks(size, cycle([cron]))


def not_due(size: int, at: datetime) -> list[Task]:
    """Return tasks with a day in the year each, none of them in this month or the next; ten share an expression."""
    months = [month for month in _MONTHS if (month - at.month) % 12 > 1]
    days = [(month, day, hour, minute) for month in months for day in _DAYS for hour in _HOURS for minute in _MINUTES]
    chosen = Random(11).sample(days, -(-size // SAME_EXPRESSION))
    texts = [f"{minute} {hour} {day} {month} *" for month, day, hour, minute in chosen]
    return _tasks(size, cycle(texts))


def _tasks(size: int, texts: Iterator[str]) -> list[Task]:
    return [(f"task-{number:07}", text, started, _DELAY) for number, text in enumerate(islice(texts, size))]
