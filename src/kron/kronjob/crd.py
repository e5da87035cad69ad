"""crd() -> the CustomResourceDefinition of KronJobs, with the schemas of spec and status."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from kron.decision.distribution import PARAMETERS
from kron.kronjob.kronjob import GROUP, KIND, PLURAL, VERSION
from kron.kronjob.spec_fields import PARAMS, SPEC, ObjectField, ValueField
from kron.kronjob.status import LONGEST_MESSAGE, LONGEST_REASON, MOST_COUNTED, MOST_ENTRIES

Schema = dict[str, Any]
_OPEN = "x-kubernetes-preserve-unknown-fields"
_OUTCOMES = ("executed", "skipped", "missed", "unschedulable")
_LONGEST_TIME = 32  # characters: with microseconds there are 27
_MOST_CONDITIONS = 16  # the operator writes four


def spec_schema() -> Schema:
    """Return the schema of the spec, from the table that reading uses."""
    schema = _of_table(SPEC)
    del schema["default"]  # without a schedule and a template there is no job
    schema["properties"]["distribution"]["x-kubernetes-validations"] = _parameters_fit()
    return schema


def _of_table(table: ObjectField) -> Schema:
    schema: Schema = {
        "type": "object",
        "description": table.description,
        "default": {},
        "properties": {
            name: _of_table(field) if isinstance(field, ObjectField) else _of_leaf(field)
            for name, field in table.fields.items()
        },
    }
    if required := [name for name, field in table.fields.items() if isinstance(field, ValueField) and field.required]:
        schema["required"] = required
    if table.is_open:
        schema[_OPEN] = True
    if table.most is not None:
        schema["maxProperties"] = table.most
    return schema


def _of_leaf(leaf: ValueField) -> Schema:
    default = {} if leaf.default is None else {"default": leaf.default}
    return deepcopy({"type": leaf.kind, "description": leaf.description, **default, **leaf.schema})


def _parameters_fit() -> list[Schema]:
    """Return the rules that let a server with CEL refuse a parameter of another distribution; others drop them."""
    rules = []
    for name in PARAMS.fields:
        takers = [distribution for distribution, names in PARAMETERS.items() if name in names]
        rule = f"!has(self.params) || !has(self.params.{name}) || self.name in {takers}"
        rules.append({"rule": rule, "message": f"{name} is a parameter of {' and '.join(takers)}"})
    return rules


# --- status -----------------------------------------------------------------------------------------------------------


def status_schema() -> Schema:
    """Return the schema of the status, which only the operator writes."""
    return _object("State and outcomes of the job's periods.", _STATUS)


def _object(description: str, fields: Mapping[str, Schema], *required: str) -> Schema:
    schema: Schema = {"type": "object", "description": description, "properties": deepcopy(dict(fields))}
    return schema | ({"required": [*required]} if required else {})


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def _time(description: str, **more: Any) -> Schema:
    return _text(description, format="date-time", maxLength=_LONGEST_TIME, **more)


def _whole(description: str, **more: Any) -> Schema:
    return {"type": "integer", "format": "int64", "description": description, **more}


def _list(description: str, items: Schema, **more: Any) -> Schema:
    return {"type": "array", "description": description, "items": items, **more}


_REFERENCE = {
    name: {"type": "string"} for name in ("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion")
}
# A window is at most 292 years long: no period that was handled lies near an end of the calendar, where no window fits.
_NEAR: Schema = {"pattern": "^[12][0-9]{3}-"}
_PERIOD = {"maxLength": _LONGEST_TIME, **_NEAR}
_HASH = {"maxLength": 64}
_HANDLED = {
    "periodID": _text("The period's nominal time; of an outage, the first one's.", **_PERIOD),
    "chosenTime": _time("When it was to run.", **_NEAR),
    "outcome": _text("Outcome of the period.", enum=[*_OUTCOMES]),
    "reason": _text("Why, in one word; empty where nothing is to be said.", maxLength=LONGEST_REASON),
    "lastPeriodID": _text("Of an outage: the last period.", **_PERIOD),
    "count": _whole("Of an outage: how many periods.", minimum=1, maximum=MOST_COUNTED),
}
_CONDITION = {
    "type": _text("Ready, InvalidSpec, SchedulingError or Unschedulable.", maxLength=LONGEST_REASON),
    "status": _text("Whether it holds.", enum=["True", "False", "Unknown"]),
    "reason": _text("Why, in one word.", maxLength=LONGEST_REASON),
    "message": _text("Why, for people.", maxLength=LONGEST_MESSAGE),
    "lastTransitionTime": _time("Since when."),
    "observedGeneration": _whole("The generation of the spec that it is about."),
}
_STATUS: Mapping[str, Schema] = {
    "observedGeneration": _whole("The generation of the spec that was last seen."),
    "definitionHash": _text("SHA-256 of what decides about periods; another one is a change of definition.", **_HASH),
    "definedAt": _time("Since when that definition is in force: what it chooses before is not its own.", **_NEAR),
    "lastPeriodID": _text("The period that was handled last.", **_PERIOD),
    "lastNominalTime": _time("Its nominal time.", **_NEAR),
    "lastChosenTime": _time("When it was to run.", **_NEAR),
    "lastOutcome": _text("Outcome of that period.", enum=[*_OUTCOMES]),
    "lastSuccessfulTime": _time("When a Job last succeeded.", **_NEAR),
    "nextPeriodID": _text("The period that runs next.", maxLength=_LONGEST_TIME),
    "nextNominalTime": _time("Its nominal time."),
    "nextChosenTime": _time("When it will run."),
    "nextSeedHash": _text("SHA-256 of its identity, period and salt, from which that second is chosen.", **_HASH),
    "active": _list("The Jobs that run.", _object("A Job.", _REFERENCE)),
    "activeJobs": _whole("How many they are, for the column that shows it: a column cannot count."),
    "handledPeriods": _list(
        "What was handled, oldest first: no Job is created for a period that is listed.",
        _object("A period, or an outage of several.", _HANDLED, "periodID", "outcome"),
        maxItems=MOST_ENTRIES,
    ),
    "conditions": _list(
        "What holds of the job now.",
        _object("A condition.", _CONDITION, "type", "status"),
        maxItems=_MOST_CONDITIONS,
        **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    ),
}


CRD_MISSING_MESSAGE = (
    "the cluster knows no KronJobs: apply their definition first, kron-operator crd | kubectl apply -f -"
)
_COLUMNS: tuple[tuple[str, str, str, int], ...] = (  # a priority above 0 is shown by `-o wide` only
    ("Schedule", "string", ".spec.schedule", 0),
    ("Time Zone", "string", ".spec.timeZone", 1),
    ("Suspend", "boolean", ".spec.policy.suspend", 0),
    ("Active", "integer", ".status.activeJobs", 1),
    ("Last Outcome", "string", ".status.lastOutcome", 0),
    ("Last", "date", ".status.lastChosenTime", 0),
    ("Next", "string", ".status.nextChosenTime", 0),
    ("Age", "date", ".metadata.creationTimestamp", 0),
)


def crd() -> dict[str, Any]:
    """Return the definition; no part of it is shared, so that every writer prints it whole."""
    schema = {
        "type": "object",
        "description": "A job with windows: one exact, reproducible second for every period.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec_schema(),
            "status": status_schema(),
        },
    }
    columns = [
        {"name": name, "type": kind, "jsonPath": path, **({"priority": priority} if priority else {})}
        for name, kind, path, priority in _COLUMNS
    ]
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
    }
    names = {
        "plural": PLURAL,
        "singular": KIND.lower(),
        "kind": KIND,
        "listKind": f"{KIND}List",
        "shortNames": ["kj"],
        "categories": ["all"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }
