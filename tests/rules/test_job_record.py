"""find_identities: which job a word names."""

import pytest

from kron.errors import UnknownJobError
from kron.rules.job_record import find_identities


def test_words_are_found_in_one_pass_over_the_jobs() -> None:
    passed = []

    def known() -> "list[tuple[str, str]]":
        passed.append(1)
        return [("a", "/f:a"), ("b", "/f:b"), ("twin", "/f:twin"), ("twin", "/g:twin"), ("/f:a", "/h:odd")]

    assert find_identities(["b", "/f:a", "b", "a", "/g:twin"], known()) == ["/f:b", "/f:a", "/g:twin"]
    assert passed == [1]
    with pytest.raises(UnknownJobError) as several:
        find_identities(["a", "twin"], known())
    assert several.value.details["identities"] == ["/f:twin", "/g:twin"]
    with pytest.raises(UnknownJobError, match="c is not a job that krond runs, and may be in a file that failed: x"):
        find_identities(["a", "c"], known(), ("x",))
