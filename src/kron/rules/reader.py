"""Reader: the second element of a registration -> its due instants, under a contract, a dialect and a time zone."""

from collections.abc import Mapping
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
    """Reads cron expressions and, in the extended dialect, whole schedule lines; equal expressions are one schedule.

    The identity that enters the seeds of a task is its name, unless `identities` has another one.
    """

    def __init__(
        self,
        contract: Contract,
        dialect: Literal["extended", "posix"],
        timezone: str,
        *,
        identities: Mapping[str, str] | None = None,
    ) -> None:
        repeated = contract.repeated_minute or Repeated.BOTH
        self._defaults = {"timezone": timezone, "dialect": dialect, "repeated": repeated.value}
        self._blanks = {ord(blank): " " for blank in contract.cron_blanks}
        self._known: dict[str, Occurrences] = {}
        self._identities = {} if identities is None else identities
        self._schedule("* * * * *")  # a wrong dialect or zone is refused here, before any registration is looked at

    def __call__(self, text: str, name: str) -> Due:
        """Return the due instants; what is wrong with the text is raised as an error of the registration."""
        known = self._known.get(text)
        if known is not None:
            return known
        found = self.read(text, name)
        if isinstance(found, Timing):
            return ChosenTimes(found)
        due = self._known[text] = Occurrences(found)
        return due

    def read(self, text: str, name: str) -> Schedule | Timing:
        """Return what the text says: a schedule, or a timing if it has modifiers; errors as above."""
        try:
            return self._read(text.translate(self._blanks), name)
        except InvalidCronExpressionError as error:
            raise CronExpressionInvalidError(expression=text, field=error.field, reason=error.reason) from error
        except UnknownTimezoneError as error:
            raise InvalidRegistrationError(field="timezone", value=text, reason=error.message) from error
        except InvalidDefinitionError as error:
            if error.field == "identity":  # that of a task is its name
                raise InvalidRegistrationError(field="name", value=name, reason=error.reason) from error
            raise InvalidRegistrationError(field=error.field, value=text, reason=error.reason) from error

    def _read(self, text: str, name: str) -> Schedule | Timing:
        if self._defaults["dialect"] == "posix" or "@" not in text[1:]:
            return self._schedule(text)
        line = parse_line(text)
        if "policy" in line.modifiers:
            position = line.modifiers["policy"].position
            reason = "does not apply here: a task never runs beside itself, and a missed run is made up for once"
            raise InvalidDefinitionError(field="policy", found="@policy", reason=reason, position=position)
        return Timing.of_line(line, identity=self._identities.get(name, name), **self._defaults)

    def _schedule(self, text: str) -> Schedule:
        return Schedule(text, **self._defaults)  # type: ignore[arg-type] # it checks each of them
