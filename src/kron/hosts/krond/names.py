"""find_identity(word, jobs) -> the identity that a word names: a name, if only one job has it, or an identity."""

from collections.abc import Iterable

from kron.errors import UnknownJobError


def find_identity(word: str, jobs: Iterable[tuple[str, str]], failed_files: tuple[str, ...] = ()) -> str:
    """Return the identity; `jobs` are names with identities. UnknownJobError if none is meant, or several are.

    A job that is not found may be in one of the `failed_files`, which the error then names.
    """
    found = []
    for name, identity in jobs:
        if identity == word:
            return identity
        if name == word:
            found.append(identity)
    if len(found) != 1:
        raise UnknownJobError(job=word, identities=tuple(sorted(found)), failed_files=() if found else failed_files)
    return found[0]
