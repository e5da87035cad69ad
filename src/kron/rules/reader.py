"""Reader: the second element of a registration -> its due instants, under a contract, a dialect and a time zone."""

from typing import Literal

from kron.cron.schedule import Repeated, Schedule
from kron.decision.line import parse_line
from kron.decision.timing import Timing
from kron.errors import (
    CronExpressionInvalidError,
    InvalidCronExpressionError,
    InvalidDefinitionError,
    InvalidRegistrationError,
    UnknownTimezoneError,
)
from kron.rules.contract import Contract
from kron.rules.due import ChosenTimes, Due, Occurrences


class Reader:
    """Reads cron expressions and, in the extended dialect, whole schedule lines; equal expressions are one schedule."""

    def __init__(self, contract: Contract, dialect: Literal["extended", "posix"], timezone: str) -> None:
        repeated = contract.repeated_minute or Repeated.BOTH
        self._defaults = {"timezone": timezone, "dialect": dialect, "repeated": repeated.value}
        self._blanks = {ord(blank): " " for blank in contract.cron_blanks}
        self._known: dict[str, Occurrences] = {}
        self._schedule("* * * * *")  # a wrong dialect or zone is refused here, before any registration is looked at

    def __call__(self, text: str, name: str) -> Due:
        """Return the due instants; what is wrong with the text is raised as an error of the registration."""
        known = self._known.get(text)
        if known is not None:
            return known
        try:
            due = self._read(text.translate(self._blanks), name)
        except InvalidCronExpressionError as error:
            raise CronExpressionInvalidError(expression=text, field=error.field, reason=error.reason) from error
        except UnknownTimezoneError as error:
            raise InvalidRegistrationError(field="timezone", value=text, reason=error.message) from error
        except InvalidDefinitionError as error:
            if error.field == "identity":  # that of a task is its name
                raise InvalidRegistrationError(field="name", value=name, reason=error.reason) from error
            raise InvalidRegistrationError(field=error.field, value=text, reason=error.reason) from error
        if isinstance(due, Occurrences):
            self._known[text] = due
        return due

    def _read(self, text: str, name: str) -> Due:
        if self._defaults["dialect"] == "posix" or "@" not in text[1:]:
            return Occurrences(self._schedule(text))
        line = parse_line(text)
        if "policy" in line.modifiers:
            position = line.modifiers["policy"].position
            reason = "does not apply here: a task never runs beside itself, and a missed run is made up for once"
            raise InvalidDefinitionError(field="policy", found="@policy", reason=reason, position=position)
        return ChosenTimes(Timing.of_line(line, identity=name, **self._defaults))

    def _schedule(self, text: str) -> Schedule:
        return Schedule(text, **self._defaults)  # type: ignore[arg-type] # it checks each of them
