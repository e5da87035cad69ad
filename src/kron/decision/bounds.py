"""The largest sizes of what people write: one table for job files, lines, crontabs, KronJobs and their schema."""

from kron.cron.expression import MAX_TEXT_LENGTH as LONGEST_EXPRESSION
from kron.cron.zone import LONGEST_NAME as LONGEST_ZONE
from kron.errors import InvalidDefinitionError, truncate

__all__ = [
    "LONGEST_EXPRESSION",
    "LONGEST_ITEM",
    "LONGEST_LINE",
    "LONGEST_PARAM",
    "LONGEST_SALT",
    "LONGEST_ZONE",
    "MOST_PARAMS",
    "MOST_VALUES",
    "check_length",
    "check_number",
]

LONGEST_SALT = 1_024  # characters; the salt is hashed again for every period
MOST_PARAMS = 16  # parameters of a distribution; none takes more than two
LONGEST_PARAM = 64  # characters of the name of a parameter
MOST_VALUES = 1_000  # in `only`, and in `avoid`
LONGEST_ITEM = 32_768  # characters of one clause: a thousand ranges of dates
LONGEST_LINE = 65_536  # characters: a line with both sides full


def check_length(field: str, text: str, longest: int) -> str:
    """Return a text, or raise an error with the field, the length that was found, and the limit."""
    if len(text) <= longest:
        return text
    reason = f"must have at most {longest} characters, found {len(text)}"
    raise InvalidDefinitionError(field=field, found=truncate(text), reason=reason, fix="shorten it")


def check_number(field: str, number: int, most: int, *, what: str, fix: str = "") -> None:
    """Raise an error with the field, the number that was found, and the limit, if it is too large."""
    if number > most:
        raise InvalidDefinitionError(
            field=field, found=str(number), reason=f"must have at most {most} {what}, found {number}", fix=fix
        )
