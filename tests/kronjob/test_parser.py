"""A KronJob document parses to a job, or to all its errors, each with the path of its field."""

from datetime import timedelta
from typing import Any

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import format_instant, parse_instant
from kron.kronjob.parser import invalid_spec_message, parse_kronjob
from kron.kronjob.spec_fields import MAX_SPEC_BYTES, json_bytes
from kron.rules.policy import Concurrency, Policy
from tests.kronjob.kronjob_documents import TEMPLATE, document, errors, kronjob

FULL = {
    "timeZone": "Europe/Paris",
    "gap": "shift",
    "repeated": "first",
    "window": {"mode": "around", "duration": "2h"},
    "distribution": {"name": "skewLate", "params": {"shape": 2.5}},
    "seed": {"strategy": "daily", "salt": "prod"},
    "constraints": {"only": ["dow=MON-FRI", "between=08:00-20:00"], "avoid": ["date=2026-12-25"]},
    "policy": {"concurrency": "replace", "deadline": "10m", "suspend": True},
    "successfulJobsHistoryLimit": 0,
    "failedJobsHistoryLimit": 7,
}
LINE = (
    "0 0 * * * @tz(Europe/Paris) @dst(gap=shift,repeated=first) @win(around,2h) @dist(skewLate,shape=2.5) "
    "@seed(daily,salt=prod) @only(dow=MON-FRI;between=08:00-20:00) @avoid(date=2026-12-25)"
)


def test_a_document_and_a_schedule_line_are_the_same_timing() -> None:
    assert kronjob(**FULL).timing == Timing.parse(LINE, identity="prod/db-backup")


def test_a_document_with_everything_said_is_read_whole() -> None:
    found = kronjob(**FULL)

    assert found.policy == Policy(Concurrency.REPLACE, timedelta(minutes=10), suspend=True)
    assert (found.successful_limit, found.failed_limit) == (0, 7)


def test_a_document_with_little_said_has_the_defaults() -> None:
    found = kronjob()

    assert found.timing == Timing.parse("0 0 * * *", identity="prod/db-backup")
    assert found.policy == Policy()
    assert (found.successful_limit, found.failed_limit) == (3, 1)


def test_the_published_case_is_chosen_to_the_second() -> None:
    timing = kronjob(window={"duration": "3h"}, seed={"salt": "backup"}).timing

    chosen = decide(timing, parse_instant("2026-03-01T00:00:00Z")).chosen_time

    assert chosen is not None
    assert format_instant(chosen) == "2026-03-01T02:32:20Z"


def test_a_document_without_a_namespace_is_in_the_default_one() -> None:
    given = document()
    del given["metadata"]["namespace"]

    found = parse_kronjob(given)

    assert not isinstance(found, list)
    assert found.identity == "default/db-backup"


def test_the_template_is_not_touched() -> None:
    assert kronjob().read_template() == TEMPLATE


def test_a_null_is_as_good_as_nothing() -> None:
    given = document()
    given["spec"]["window"] = None
    given["spec"]["policy"] = {"deadline": None}

    assert parse_kronjob(given) == kronjob()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an expression": ({"schedule": "61 * * * *"}, "spec.schedule: minute field"),
    "too few fields": ({"schedule": "0 0 * *"}, "spec.schedule: must have exactly 5 fields, found 4"),
    "a zone in the schedule": ({"schedule": "TZ=UTC 0 0 * * *"}, "spec.schedule: must not name a time zone"),
    "a modifier": ({"schedule": "0 0 * * * @win(after,2h)"}, "spec.schedule: must not have modifiers"),
    "no schedule": ({"schedule": None}, "spec.schedule: is required"),
    "a number as schedule": ({"schedule": 5}, 'spec.schedule: must be a text, found "5"; write it in quotes'),
    "a zone": ({"timeZone": "Europe/Pari"}, 'spec.timeZone: must be an IANA time zone, found "Europe/Pari"; did you'),
    "a gap": ({"gap": "leap"}, "spec.gap: must be one of skip, shift"),
    "a repeated": ({"repeated": "last"}, "spec.repeated: must be one of both, first"),
    "a mode": ({"window": {"mode": "After"}}, 'spec.window.mode: must be one of after, around, found "After"'),
    "a duration": ({"window": {"duration": "2 hours"}}, "spec.window.duration: no number with a unit"),
    "a bare number": ({"policy": {"deadline": 10}}, "spec.policy.deadline: must be a text"),
    "a window that is a text": ({"window": "after,2h"}, "spec.window: must be an object"),
    "a distribution": ({"distribution": {"name": "gauss"}}, "spec.distribution.name: must be one of uniform"),
    "an unknown parameter": (
        {"distribution": {"params": {"shpe": 2}}},
        'spec.distribution.params.shpe: uniform takes no parameters, found "shpe"',
    ),
    "a parameter of another distribution": (
        {"distribution": {"name": "skewLate", "params": {"lambda": 2}}},
        'spec.distribution.params.lambda: skewLate takes shape, found "lambda"',
    ),
    "a parameter out of range": (
        {"distribution": {"name": "skewLate", "params": {"shape": 0}}},
        "spec.distribution.params.shape: must be a finite number above 0",
    ),
    "a parameter of another type": (
        {"distribution": {"name": "skewLate", "params": {"shape": "2"}}},
        'spec.distribution.params.shape: must be a number, found "2"',
    ),
    "a strategy": ({"seed": {"strategy": "hourly"}}, "spec.seed.strategy: must be one of stable, daily, weekly"),
    "a clause": ({"constraints": {"only": ["hours=1", "dow=MOX"]}}, "spec.constraints.only[1]: has an unknown name"),
    "clauses as a text": ({"constraints": {"avoid": "hours=1"}}, "spec.constraints.avoid: must be a list of texts"),
    "contradictory minutes": (
        {"constraints": {"only": ["hours=3"], "avoid": ["between=03:00-03:59"]}},
        "spec.constraints: no second of any day satisfies only and avoid",
    ),
    "contradictory days": (
        {"constraints": {"only": ["dates=2026-03-01..2026-03-02"], "avoid": ["dow=SUN,MON"]}},
        "spec.constraints: no second of any day satisfies only and avoid",
    ),
    "a day that no month has": (
        {"constraints": {"only": ["months=FEB", "dom=30"]}},
        "spec.constraints: no second of any day satisfies only and avoid",
    ),
    "a concurrency": ({"policy": {"concurrency": "Forbid"}}, "spec.policy.concurrency: must be one of allow"),
    "a suspend in quotes": ({"policy": {"suspend": "yes"}}, "spec.policy.suspend: must be true or false"),
    "a limit": ({"failedJobsHistoryLimit": -1}, "spec.failedJobsHistoryLimit: must be a whole number from 0"),
    "a limit that is true": ({"failedJobsHistoryLimit": True}, "spec.failedJobsHistoryLimit: must be a whole number"),
    "no template": ({"jobTemplate": None}, "spec.jobTemplate: is required"),
    "labels that are none": (
        {"jobTemplate": {"metadata": {"labels": "x"}, "spec": {}}},
        'spec.jobTemplate.metadata.labels: must be an object, found "x"',
    ),
    "a template without a spec": ({"jobTemplate": {"metadata": {}}}, "spec.jobTemplate.spec: is required"),
}


@pytest.mark.parametrize(("spec", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_names_the_field_what_was_found_and_what_is_right(spec: dict[str, Any], message: str) -> None:
    (error,) = errors(document(**spec))

    assert invalid_spec_message([error]).startswith(message)


def test_all_errors_are_reported_at_once() -> None:
    given = document(name="No", timeZone="Mars", window={"mode": "x", "duration": "y"}, jobTemplate=None)

    fields = [error.field for error in errors(given)]

    assert fields == ["metadata.name", "spec.timeZone", "spec.window.mode", "spec.window.duration", "spec.jobTemplate"]


@pytest.mark.parametrize("name", ["", "Backup", "a_b", "-a", "a-", "a..b", "a" * 254, 5, None])
def test_a_name_that_the_server_would_refuse_is_an_error(name: Any) -> None:
    assert [error.field for error in errors(document(name=name))] == ["metadata.name"]


def test_a_document_of_another_kind_is_an_error() -> None:
    given = {**document(), "apiVersion": "batch/v1", "kind": "CronJob"}

    assert invalid_spec_message(errors(given)) == (
        'apiVersion: must be kron.io/v1alpha1, found "batch/v1"\nkind: must be KronJob, found "CronJob"'
    )


@pytest.mark.parametrize("given", [{}, {"metadata": [], "spec": "x"}, {"metadata": {"name": "a"}, "spec": {}}])
def test_a_document_of_another_shape_is_an_error(given: dict[str, Any]) -> None:
    assert {error.field.partition(".")[0] for error in errors(given)} <= {"apiVersion", "kind", "metadata", "spec"}


def test_a_spec_of_256_kilobytes_is_read_and_one_of_more_is_one_error() -> None:
    def given(size: int) -> dict[str, Any]:
        found = document()
        found["spec"]["jobTemplate"] = {"spec": {"script": "é" * (size // 2)}}
        return found

    rest = len(json_bytes(given(0)["spec"]))

    assert not isinstance(parse_kronjob(given(MAX_SPEC_BYTES - rest)), list)
    found = parse_kronjob(given(MAX_SPEC_BYTES - rest + 2))
    assert isinstance(found, list)
    size = MAX_SPEC_BYTES - rest + 2 - (MAX_SPEC_BYTES - rest) % 2 + rest
    assert invalid_spec_message(found) == (
        f"spec: must have at most 256,000 bytes as JSON, found {size:,}; "
        "move scripts and data of jobTemplate into a ConfigMap"
    )
