"""docs/operator.md says of every field what the schema says, and the example is one."""

import json
import re
from pathlib import Path

import pytest

from kron.hosts.manifests import read_manifests
from kron.rules.kronjob.fields import SPEC, Leaf, Table
from kron.rules.kronjob.kronjob import KronJob
from kron.rules.kronjob.reading import read_kronjob
from tests.cli.runner import kron

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `([\w.]+)` \| `?(.*?)`? \| .* \|$", re.MULTILINE)


def defaults(table: Table, prefix: str = "") -> dict[str, str]:
    """Return every field as the page should name it, with its default."""
    found: dict[str, str] = {}
    for name, field in table.fields.items():
        if isinstance(field, Leaf):
            found[prefix + name] = "required" if field.required else _spelled(field.default)
        elif field.is_open:
            found[prefix + name] = "{}"
        else:
            found |= defaults(field, f"{prefix}{name}.")
    return found


def _spelled(value: object) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def test_the_page_has_every_field_and_its_default() -> None:
    page = (ROOT / "docs" / "operator.md").read_text("utf-8")

    assert dict(ROW.findall(page)) == defaults(SPEC)


def test_the_shipped_example_is_a_good_one() -> None:
    (given,) = read_manifests((ROOT / "examples" / "kronjob.yaml").read_text("utf-8"))

    assert isinstance(read_kronjob(given), KronJob)


@pytest.mark.parametrize("file", sorted((ROOT / "examples" / "kronjobs").iterdir()), ids=lambda file: file.stem)
def test_an_example_is_good_and_nothing_is_to_be_said_about_it(file: Path) -> None:
    answer = kron("k8s", "validate", "-f", str(file))

    assert (answer.code, answer.out, answer.err) == (0, "", "")
