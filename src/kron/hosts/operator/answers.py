"""meaning(error) -> Meaning: which answers of a server pass, and which do not."""

from enum import Enum

from kron.errors import ApiError, ApiRefusedError

LONGEST_PAUSE = 5.0  # seconds between two tries
NOT_NOW = 0.25  # seconds until somebody who may not write looks again: a lease that was renewed late may be ours still
_FOR_GOOD = frozenset({400, 405, 413, 422})


class Meaning(Enum):
    """What an answer means for whoever asked."""

    PASSING = "passing"  # it may be otherwise soon
    FINAL = "final"  # it will never be otherwise
    EXISTS = "exists"
    GONE = "gone"
    ENDING = "ending"  # the namespace is being deleted: nobody is interested any more


def meaning(error: ApiError) -> Meaning:
    """Return what an answer means."""
    if not isinstance(error, ApiRefusedError):
        return Meaning.PASSING
    if error.code == 403 and "NamespaceTerminating" in error.causes:
        return Meaning.ENDING
    if error.code == 409 and error.reason == "AlreadyExists":
        return Meaning.EXISTS
    if error.code == 404:
        return Meaning.GONE
    return Meaning.FINAL if error.code in _FOR_GOOD else Meaning.PASSING


def is_gone(error: ApiError) -> bool:
    """Whether an answer to a deletion says that there is nothing to delete: it is gone, or another one has its name."""
    is_another = isinstance(error, ApiRefusedError) and error.code == 409
    return is_another or meaning(error) is not Meaning.PASSING


def pause(error: ApiError, tries: int) -> float:
    """Return how many seconds to wait before the next try, after so many."""
    asked = error.retry_after if isinstance(error, ApiRefusedError) else None
    return min(LONGEST_PAUSE, max(asked or 0.0, 0.25 * 2.0 ** min(tries, 10)))
