"""A printed fix, applied, removes its warning: in a line, a crontab, a TOML table and a manifest."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from hypothesis import given, strategies as st

from kron.errors.diagnostics import Diagnostic
from kron.instant import parse_instant
from kron.jobfile.lint import lint_job as warn_of_job
from kron.jobfile.toml_syntax import format_table
from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import lint_kronjob as warn_of_kronjob, parse_kronjob
from kron.rules.lint import Linter
from tests.cli.kron_runner import kron
from tests.jobfile.job_sets import read
from tests.kronjob.kronjob_documents import document

# Europe/Paris: clocks go forward on 29 March 2026 and back on 25 October 2026.
LINTER = Linter(parse_instant("2026-01-15T00:00:00Z"))
MODIFIERS = {"gap": "dst", "repeated": "dst", "deadline": "policy", "concurrency": "policy", "window": "win"}


def modifiers_of(said: Mapping[str, str]) -> str:
    """Return what is said as the modifiers of a line."""
    words: dict[str, list[str]] = {}
    for key, value in said.items():
        words.setdefault(MODIFIERS[key], []).append(value if key == "window" else f"{key}={value}")
    return "".join(f" @{name}({','.join(each)})" for name, each in words.items())


# --- each front end: what it says of a definition, and the definition after its advice was followed -------------------


def warnings_of_line(line: str) -> list[Diagnostic]:
    found = kron("lint", line, "--json").json
    assert [each for each in found if each["level"] == "error"] == [], line
    return [Diagnostic(**each) for each in found]


def warnings_of_file(text: str, form: str) -> list[Diagnostic]:
    job_set = read(text, form)
    assert [str(each) for each in job_set.findings if each.level == "error"] == [], text
    (job,) = job_set.jobs
    return warn_of_job(job, LINTER)


def warnings_of_manifest(spec: Mapping[str, Any]) -> list[Diagnostic]:
    kronjob = parse_kronjob(document(**spec))
    assert isinstance(kronjob, KronJob), kronjob
    return warn_of_kronjob(kronjob, LINTER)


def follow_in_line(line: str, fix: str) -> str:
    """Return a line of five fields and modifiers after the advice was followed."""
    if added := re.match(r"add (@\w+\([^()]*\))", fix):
        return f"{line} {added[1]}"
    if inside := re.match(r"in @(\w+)\(…\) write (\w+)=(\S+)", fix):
        (said,) = re.findall(rf"@{inside[1]}\(([^()]*)\)", line)
        words = [word for word in said.split(",") if word.partition("=")[0] != inside[2]]
        return line.replace(f"@{inside[1]}({said})", f"@{inside[1]}({','.join([*words, f'{inside[2]}={inside[3]}'])})")
    if shorter := re.match(r"shorten it to (\S+) by @win in the line", fix):
        return f"{line} @win(after,{shorter[1]})"
    shorter = re.match(r"shorten it to (\S+)$", fix)
    assert shorter, fix
    return re.sub(r"@win\(after,[^()]*\)", f"@win(after,{shorter[1]})", line)


def follow_in_table(table: dict[str, Any], fix: str) -> dict[str, Any]:
    if setting := re.match(r'(add|write) (\w+ = (?:"[^"]*"|true))', fix):
        (change,) = tomllib.loads(setting[2]).items()
        assert (setting[1] == "write") == (change[0] in table), fix
        return table | dict([change])
    if "window" in table and (shorter := re.fullmatch(r"shorten it to (\S+)", fix)):
        return table | {"window": f"after,{shorter[1]}"}
    return table | {"schedule": follow_in_line(table["schedule"], fix)}


def follow_in_manifest(spec: dict[str, Any], finding: Diagnostic) -> dict[str, Any]:
    """Return a spec with a field set: the one that the finding is about, or its neighbour of the name that is given."""
    path = finding.field.removeprefix("spec.").split(".")
    if setting := re.match(r"write (\w+): (\S+)", str(finding.fix)):
        path, value = [*path[:-1], setting[1]], setting[2]
    else:
        value = str(finding.fix).removeprefix("shorten it to ")
    outer = {name: dict(each) if isinstance(each, dict) else each for name, each in spec.items()}
    inner = outer.setdefault(path[0], {}) if path[1:] else outer
    inner[path[-1]] = value
    return outer


Definition = TypeVar("Definition")

# --- the law ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DefinitionSettings:
    """`timing` and `policy` of a definition by their keys, and which of these a table has in its schedule."""

    fields: str
    keys: Mapping[str, str]
    in_schedule: frozenset[str]


def some(**choices: tuple[str, ...]) -> st.SearchStrategy[dict[str, str]]:
    return st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in choices.items()})


SETTINGS = st.builds(
    DefinitionSettings,
    st.sampled_from(["30 2 * * *", "30 1,2 * * *", "0 3 * * *", "15 2 * * SUN"]),
    some(gap=("skip", "shift"), repeated=("both", "first"), deadline=("0s", "1m"), concurrency=("allow", "forbid"),
         window=("after,36h", "after,1h")),
    st.frozensets(st.sampled_from(sorted(MODIFIERS))),
)  # fmt: skip


WINDOW = "is longer than the shortest spacing"


def kind_of(finding: Diagnostic) -> str:
    """Return what a warning says, without the numbers and dates that may change with another part."""
    return re.split(r" on |[:,]", finding.message)[0].lstrip("0123456789hms ")


def check(
    definition: Definition,
    warnings: Callable[[Definition], list[Diagnostic]],
    follow: Callable[[Definition, Diagnostic], Definition],
) -> None:
    """Follow each advice by itself, which removes its warning; then go on until nothing is left to advise.

    A run that moves out of a gap comes nearer to the next one, so the window may be what is wrong afterwards.
    """
    found = warnings(definition)
    for each in found:
        left = {kind_of(other) for other in warnings(follow(definition, each))}
        assert kind_of(each) not in left, each
        assert left <= {kind_of(other) for other in found} | {WINDOW}, each
    if found:
        check(follow(definition, found[0]), warnings, follow)


@given(SETTINGS)
def test_the_printed_fix_removes_its_warning_from_a_kron_line(settings: DefinitionSettings) -> None:
    line = f"{settings.fields} @tz(Europe/Paris){modifiers_of(settings.keys)}"

    check(
        line,
        lambda text: warnings_of_file(f"{text} name=x command=true", "kron"),
        lambda text, finding: follow_in_line(text, str(finding.fix)),
    )


@given(SETTINGS, st.sampled_from(["", "RANDOM_DELAY=1440\n"]))
def test_the_printed_fix_removes_its_warning_from_a_crontab(settings: DefinitionSettings, delay: str) -> None:
    line = f"{settings.fields.replace('SUN', '*')} {modifiers_of(settings.keys)}".rstrip()
    before = f"CRON_TZ=Europe/Paris\n{delay}"

    check(
        line,
        lambda text: warnings_of_file(f"{before}{text} true\n", "crontab"),
        lambda text, finding: follow_in_line(text, str(finding.fix)),
    )


@given(SETTINGS)
def test_the_printed_fix_removes_its_warning_from_a_table(settings: DefinitionSettings) -> None:
    in_line = {key: value for key, value in settings.keys.items() if key in settings.in_schedule}
    schedule = {"schedule": settings.fields + modifiers_of(in_line), "command": "true", "timezone": "Europe/Paris"}
    table = schedule | {key: value for key, value in settings.keys.items() if key not in in_line}

    check(
        table,
        lambda given: warnings_of_file(format_table("jobs.x", given), "toml"),
        lambda given, finding: follow_in_table(given, str(finding.fix)),
    )


@given(SETTINGS)
def test_the_printed_fix_removes_its_warning_from_a_manifest(settings: DefinitionSettings) -> None:
    keys = settings.keys
    spec: dict[str, Any] = {"schedule": settings.fields, "timeZone": "Europe/Paris"}
    spec |= {key: keys[key] for key in ("gap", "repeated") if key in keys}
    spec["policy"] = {key: keys[key] for key in ("deadline", "concurrency") if key in keys}
    if "window" in keys:
        spec["window"] = dict(zip(("mode", "duration"), keys["window"].split(","), strict=True))

    check(spec, warnings_of_manifest, follow_in_manifest)


@pytest.mark.parametrize("modifiers", ["", " @dst(gap=skip)", " @dst(repeated=both) @policy(concurrency=allow)"])
def test_the_printed_fix_removes_its_warning_from_a_line_of_the_command(modifiers: str) -> None:
    check(
        f"30 2 * * * @tz(Europe/Paris){modifiers}",
        warnings_of_line,
        lambda line, finding: follow_in_line(line, str(finding.fix)),
    )


# --- the words --------------------------------------------------------------------------------------------------------

DAILY = {"schedule": "0 3 * * *", "command": "true"}


@pytest.mark.parametrize(
    ("text", "form", "fix"),
    [
        ("0 3 * * * name=x command=true", "kron", "add @policy(deadline=10m) or longer"),
        ("0 3 * * * @policy(suspend=true) name=x command=true", "kron", "in @policy(…) write deadline=10m or longer"),
        ("0 3 * * * @policy(deadline=0s) true", "crontab", "in @policy(…) write deadline=10m or longer"),
        (format_table("jobs.x", DAILY), "toml", 'add deadline = "10m" or longer'),
        (format_table("jobs.x", DAILY | {"deadline": "0s"}), "toml", 'write deadline = "10m" or longer'),
    ],
)
def test_a_file_is_advised_in_its_own_notation(text: str, form: str, fix: str) -> None:
    (finding,) = warnings_of_file(text, form)

    assert finding.fix == fix


def test_a_manifest_is_advised_in_its_own_notation() -> None:
    found = warnings_of_manifest({"schedule": "30 2 * * *", "timeZone": "Europe/Paris"})

    assert [(each.field, each.fix) for each in found] == [
        ("spec.schedule", "write gap: shift to run right after the gap"),
        ("spec.schedule", "write repeated: first to run once"),
        ("spec.policy.deadline", "write deadline: 10m or longer"),
    ]


def test_a_parameter_of_a_distribution_is_advised_in_the_notation_of_a_manifest() -> None:
    spec: dict[str, Any] = {"window": {"duration": "1h"}, "distribution": {"name": "skewLate", "params": {"shape": -1}}}
    errors = parse_kronjob(document(**spec))

    assert isinstance(errors, list)
    assert [(each.field, each.fix) for each in errors] == [("spec.distribution.params.shape", "write shape: 2.0")]
    assert isinstance(
        parse_kronjob(document(**spec | {"distribution": {"name": "skewLate", "params": {"shape": 2.0}}})), KronJob
    )


def test_a_parameter_of_a_distribution_is_advised_in_the_notation_of_a_line() -> None:
    (finding,) = read("0 3 * * * @win(after,1h) @dist(skewLate,shape=-1) name=x command=true", "kron").findings

    assert str(finding.fix) == "write shape=2.0"
