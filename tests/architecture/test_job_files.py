"""docs/job-files.md says of every key what the code does: its place, its default, and that examples of it are read."""

import re
import tomllib
from pathlib import Path

import pytest

from kron.jobfile.keys import KEYS
from kron.jobfile.settings import SETTINGS, Settings
from tests.jobfile.job_sets import job, read, table

PAGE = (Path(__file__).parents[2] / "docs" / "job-files.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")


def rows(after: str) -> dict[str, list[str]]:
    """Return the cells of the table below a heading, by key."""
    section = PAGE.partition(f"## {after}\n")[2].partition("\n## ")[0]
    return {key: cells.split(" | ") for key, cells in ROW.findall(section)}


JOB_ROWS = rows("The keys of a job")
SETTING_ROWS = rows("The keys of `[krond]`")


def test_the_table_of_keys_is_the_codes_own_in_its_order() -> None:
    assert list(JOB_ROWS) == list(KEYS)
    assert list(SETTING_ROWS) == list(SETTINGS)


@pytest.mark.parametrize("key", KEYS)
def test_the_table_says_where_a_key_may_stand(key: str) -> None:
    *_, in_defaults, in_line = JOB_ROWS[key]
    known = KEYS[key]

    assert in_defaults == ("yes" if known.in_defaults else "no")
    if key != "schedule":
        assert in_line == (f"`@{known.modifier}`" if known.modifier else "repeated" if known.repeatable else "yes")


EXAMPLES = [
    (key, text)
    for key, cells in JOB_ROWS.items()
    for text in CODE.findall(cells[0])
    if text[0] in '"{[tf' and "…" not in text and text != "{host}" and text != "{machine}"
]


@pytest.mark.parametrize(("key", "example"), EXAMPLES)
def test_an_example_of_a_key_is_read(key: str, example: str) -> None:
    if key == "limits" and example == '"unlimited"':
        example = '{core = "unlimited"}'

    assert read(table(f"{key} = {example}")).findings == ()


DEFAULTS = [(key, CODE.findall(cells[1])[0]) for key, cells in JOB_ROWS.items() if re.match(r"`[\"0-9ft]", cells[1])]


@pytest.mark.parametrize(("key", "default"), DEFAULTS)
def test_saying_the_default_changes_nothing(key: str, default: str) -> None:
    assert job(f"{key} = {default}") == job("")


@pytest.mark.parametrize("key", [key for key, cells in SETTING_ROWS.items() if re.match(r"`[\"0-9]", cells[1])])
def test_saying_the_default_of_a_setting_changes_nothing(key: str) -> None:
    (default,) = CODE.findall(SETTING_ROWS[key][1])

    assert read(f"[krond]\n{key} = {default}").settings == Settings()


def test_there_are_defaults_and_examples_to_check() -> None:
    assert len(DEFAULTS) > 15
    assert len(EXAMPLES) > 25


def test_the_shipped_example_uses_known_keys_only() -> None:
    text = (Path(__file__).parents[2] / "examples" / "krond.toml").read_text("utf-8")

    assert set(tomllib.loads(text)) == {"krond", "defaults", "jobs"}
    assert read(text).findings == ()
