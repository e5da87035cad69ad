"""Reading any JSON document as a KronJob gives a job or errors, and never another exception."""

from typing import Any

from hypothesis import given, strategies as st

from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import parse_kronjob, unknown_fields
from kron.kronjob.spec_fields import SPEC, ObjectField, ValueField, definition_hash
from tests.kronjob.kronjob_documents import TEMPLATE, document

WORDS = st.text(max_size=8) | st.sampled_from(
    ["UTC", "0 0 * * *", "* * * * *", "@daily", "1h", "300h", "normal", "hours=1", "dow=MON", "dates=2026-01-01..x"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


def like(field: ValueField | ObjectField) -> st.SearchStrategy[Any]:
    """Return values that look like those of a field, or like anything."""
    if isinstance(field, ObjectField):
        return JSON | st.fixed_dictionaries({}, optional={name: like(inner) for name, inner in field.fields.items()})
    return JSON | st.sampled_from([field.default, *field.schema.get("enum", ()), TEMPLATE])  # type: ignore[misc] # a list


@given(like(SPEC), JSON)
def test_reading_ends_with_a_job_or_with_errors(spec: Any, metadata: Any) -> None:
    given = {**document(), "spec": spec}

    found = parse_kronjob(given)

    assert isinstance(found, KronJob) or (found and all(error.level == "error" for error in found))
    assert isinstance(parse_kronjob({**document(), "metadata": metadata}), list | KronJob)
    assert isinstance(unknown_fields(given), list)


@given(st.dictionaries(st.sampled_from([*SPEC.fields]), JSON))
def test_every_spec_has_a_hash(spec: dict[str, Any]) -> None:
    assert len(definition_hash(spec)) == 64
