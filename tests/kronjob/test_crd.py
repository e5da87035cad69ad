"""The CRD validates what the parser accepts, and is a valid CRD."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kron.errors import InvalidDurationError
from kron.instant import parse_duration
from kron.kronjob.crd import crd
from kron.kronjob.parser import parse_kronjob
from kron.kronjob.spec_fields import DURATION
from tests.kronjob.kronjob_documents import TEMPLATE, document, errors, kronjob

VERSION = crd()["spec"]["versions"][0]
SCHEMA = VERSION["schema"]["openAPIV3Schema"]
SPEC = SCHEMA["properties"]["spec"]


def nodes(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema inside a schema, with where it is."""
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from nodes(inner, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")


ALL = dict(nodes(SCHEMA, ""))


def stated(schema: dict[str, Any]) -> Any:
    """Return what a server makes of nothing: the default, with the defaults inside it."""
    found = schema["default"]
    if schema["type"] == "object":
        return found | {name: stated(inner) for name, inner in schema["properties"].items() if "default" in inner}
    return found


def test_the_crd_is_the_definition_of_kronjobs() -> None:
    found = crd()

    assert found["metadata"]["name"] == "kronjobs.kron.io"
    assert found["spec"]["scope"] == "Namespaced"
    assert found["spec"]["names"]["shortNames"] == ["kj"]
    assert found["spec"]["names"]["categories"] == ["all"]
    assert VERSION["subresources"] == {"status": {}}


def test_the_schema_is_structural() -> None:
    assert all("type" in schema for schema in ALL.values())
    assert all("items" in schema for schema in ALL.values() if schema["type"] == "array")


def test_every_field_of_spec_and_status_is_described() -> None:
    fields = [path for path in ALL if path.startswith((".spec", ".status")) and "[]" not in path]

    assert len(fields) > 40
    assert all(ALL[path]["description"] for path in fields)


def test_the_defaults_of_the_server_are_those_of_reading() -> None:
    defaults = {name: stated(schema) for name, schema in SPEC["properties"].items() if "default" in schema}

    assert defaults == {
        "timeZone": "UTC",
        "gap": "skip",
        "repeated": "both",
        "window": {"mode": "after", "duration": "0s"},
        "distribution": {"name": "uniform", "params": {}},
        "seed": {"strategy": "stable", "salt": ""},
        "constraints": {"only": [], "avoid": []},
        "policy": {"concurrency": "forbid", "deadline": "0s", "suspend": False},
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    }
    assert kronjob(**defaults) == kronjob()


def test_a_schedule_and_a_template_are_required() -> None:
    assert SPEC["required"] == ["schedule", "jobTemplate"]
    assert "default" not in SPEC


def test_only_parameters_and_the_template_keep_unknown_fields() -> None:
    kept = [path for path, schema in ALL.items() if schema.get("x-kubernetes-preserve-unknown-fields")]

    template = ".spec.jobTemplate"
    assert kept == [".spec.distribution.params", template, f"{template}.metadata", f"{template}.spec"]


ENUMS = [(path, schema["enum"]) for path, schema in ALL.items() if "enum" in schema and path.startswith(".spec")]


@pytest.mark.parametrize(("path", "words"), ENUMS)
def test_reading_takes_every_word_of_an_enum_and_no_other(path: str, words: list[str]) -> None:
    *outer, name = path.split(".")[2:]

    def said(word: str) -> dict[str, Any]:
        return document(**({outer[0]: {name: word}} if outer else {name: word}))

    assert not any(isinstance(parse_kronjob(said(word)), list) for word in words)
    assert [error.field for error in errors(said(words[0].upper()))] == [path[1:]]


def test_the_enums_are_there() -> None:
    assert [path for path, _ in ENUMS] == [
        ".spec.gap",
        ".spec.repeated",
        ".spec.window.mode",
        ".spec.distribution.name",
        ".spec.seed.strategy",
        ".spec.policy.concurrency",
    ]


@given(st.text("0123456789.hmsuµμn-+ x", max_size=12))
def test_a_duration_that_is_read_passes_the_servers_pattern(text: str) -> None:
    try:
        parse_duration(text)
    except InvalidDurationError:
        return
    assert re.fullmatch(DURATION.strip("^$"), text)


@pytest.mark.parametrize("text", ["", "1", "-1s", "1x", "1h ", "h", ".h", "1h-2m", "01:30"])
def test_the_pattern_refuses_what_is_no_duration(text: str) -> None:
    assert not re.search(DURATION, text)


def test_a_parameter_of_another_distribution_is_refused_by_a_rule() -> None:
    rules = SPEC["properties"]["distribution"]["x-kubernetes-validations"]

    assert {
        "rule": "!has(self.params) || !has(self.params.shape) || self.name in ['skewEarly', 'skewLate']",
        "message": "shape is a parameter of skewEarly and skewLate",
    } in rules
    assert len(rules) == 5


def test_the_columns_that_kubectl_shows() -> None:
    columns = VERSION["additionalPrinterColumns"]

    assert [column["name"] for column in columns if "priority" not in column] == [
        "Schedule",
        "Suspend",
        "Last Outcome",
        "Last",
        "Next",
        "Age",
    ]
    assert [(column["name"], column["type"]) for column in columns if "priority" in column] == [
        ("Time Zone", "string"),
        ("Active", "integer"),
    ]
    assert all(column["jsonPath"] in ALL for column in columns if column["name"] != "Age")


def test_a_template_passes_as_it_is() -> None:
    assert ALL[".spec.jobTemplate"]["required"] == [*TEMPLATE]
