"""find_identities(words, jobs) -> the identities that words name: names, if only one job has each, or identities."""

from collections.abc import Iterable, Sequence

from kron.errors import UnknownJobError


def find_identity(word: str, jobs: Iterable[tuple[str, str]], errors: tuple[str, ...] = ()) -> str:
    """Return the identity; `jobs` are names with identities. UnknownJobError if none is meant, or several are.

    A job that is not found may be in a file that failed: the error then repeats `errors`, those of the failed files.
    """
    (found,) = find_identities([word], jobs, errors)
    return found


def find_identities(words: Sequence[str], jobs: Iterable[tuple[str, str]], errors: tuple[str, ...] = ()) -> list[str]:
    """Return the identity of each word, in one pass over the jobs: there may be thousands of both."""
    known: set[str] = set()
    named: dict[str, list[str]] = {word: [] for word in words}
    for name, identity in jobs:
        if identity in named:
            known.add(identity)
        if name in named:
            named[name].append(identity)
    for word, found in named.items():
        if word not in known and len(found) != 1:
            raise UnknownJobError(job=word, identities=tuple(sorted(found)), errors=() if found else errors)
    return list(dict.fromkeys(word if word in known else named[word][0] for word in words))
