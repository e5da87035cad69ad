"""docs/operator.md describes every field as the schema does, and its example is valid."""

import json
import re
import shlex
from pathlib import Path

import pytest

from kron.adapters.kubernetes.manifests import read_manifests
from kron.decision.decide import decide
from kron.instant import parse_instant
from kron.kronjob.kronjob import KronJob, build_job
from kron.kronjob.parser import parse_kronjob
from kron.kronjob.spec_fields import SPEC, ObjectField, ValueField
from kron.rules.history import NoRecordReason
from tests.cli.api_server import ApiServer
from tests.cli.kron_runner import kron

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operator.md").read_text("utf-8")
ROW = re.compile(r"^\| `([\w.]+)` \| `?(.*?)`? \| .* \|$", re.MULTILINE)


def defaults(table: ObjectField, prefix: str = "") -> dict[str, str]:
    """Return every field as the page should name it, with its default."""
    found: dict[str, str] = {}
    for name, field in table.fields.items():
        if isinstance(field, ValueField):
            found[prefix + name] = "required" if field.required else _spelled(field.default)
        elif field.is_open:
            found[prefix + name] = "{}"
        else:
            found |= defaults(field, f"{prefix}{name}.")
    return found


def _spelled(value: object) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def test_the_page_has_every_field_and_its_default() -> None:
    section = PAGE.partition("## The resource\n")[2].partition("\n## ")[0]

    assert dict(ROW.findall(section)) == defaults(SPEC)


def test_the_shipped_example_is_a_good_one() -> None:
    (given,) = read_manifests((ROOT / "examples" / "kronjob.yaml").read_text("utf-8"))

    assert isinstance(parse_kronjob(given), KronJob)


@pytest.mark.parametrize("file", sorted((ROOT / "examples" / "kronjobs").iterdir()), ids=lambda file: file.stem)
def test_an_example_is_good_and_nothing_is_to_be_said_about_it(file: Path) -> None:
    answer = kron("k8s", "validate", "-f", str(file))

    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_the_answer_of_a_cluster_on_the_page_is_what_the_command_prints(tmp_path: Path) -> None:
    (command, shown) = re.findall(r"^```\n\$ kron k8s (why [^\n]*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
    (given,) = read_manifests((ROOT / "examples" / "kronjob.yaml").read_text("utf-8"))
    found = parse_kronjob(given)
    assert isinstance(found, KronJob)
    decision = decide(found.timing, parse_instant("2026-03-01T00:00:00Z"))
    created = {"creationTimestamp": "2026-03-01T02:32:20Z"}
    job = build_job(found, decision) | {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    job["metadata"] |= created
    given["status"] = {"handledPeriods": [{"periodID": decision.period_id, "outcome": "executed", "reason": ""}]}
    server = ApiServer(tmp_path).holds(given, jobs=(job,))

    with server.serving():
        answer = server.kron(*shlex.split(command))

    assert (answer.code, answer.out) == (0, shown)


def test_the_page_has_every_reason_for_which_nothing_is_recorded() -> None:
    _, _, table = PAGE.partition("| `reason` | means |")
    of_ledgers = {NoRecordReason.REMOVED, NoRecordReason.CLOCK_AHEAD}

    named = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert named == {reason.value for reason in {*NoRecordReason} - of_ledgers}
