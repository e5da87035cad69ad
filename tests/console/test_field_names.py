"""An error names the field as its author wrote it, says what was found, and names the nearest right word."""

import json
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron
from tests.hosts.krond.command_runner import krond

TOML = {
    'schedule = "61 3 * * *"': 'x.schedule: minute field value 61 is outside 0-59 in "61 3 * * *"; write a',
    'schedule = "0 3 * *"': 'x.schedule: must have exactly 5 fields, found 4 in "0 3 * *"; add the field',
    'schedule = "0 3 * * MONN"': 'has an unknown name (MONN) in "0 3 * * MONN"; did you mean MON?',
    'schedule = "@dayly"': 'uses an unknown macro (@dayly) in "@dayly"; did you mean @daily?',
    'schedule = "@daily"\nwindow = "aft,1h"': 'window: must be one of after, around, found "aft"; did you mean after?',
    'schedule = "@daily"\ntimezone = "Europe/Pari"': 'timezone: must be an IANA time zone, found "Europe/Pari"; did',
    'schedule = "@daily"\nonly = "dow=MONN"': 'x.only: has an unknown name (MONN), found "MONN"; did you mean MON?',
    'schedul = "@daily"': "jobs.x.schedul: is not a key of a job; did you mean schedule?",
}
LINES = {
    "61 3 * * *": 'schedule: minute field value 61 is outside 0-59 in "61 3 * * *"; write a number',
    "0 3 * * * @win(after,1x)": "@win duration: no number with a unit at '1x', found \"1x\"; write it as 1h30m",
    "0 3 * * * @tz(Europe/Pari)": '@tz: must be an IANA time zone, found "Europe/Pari"; did you mean Europe/Paris',
    "0 3 * * * @only(dow=MONN)": '@only dow: has an unknown name (MONN), found "MONN"; did you mean MON?',
    "0 3 * * * @policy(concurrency=forbd)": "@policy concurrency: must be one of allow, forbid, replace, found",
    "0 3 * * * @policy(deadline=1x)": "@policy deadline: no number with a unit at '1x', found \"1x\"",
    "0 3 * * * @wn(after,1h)": 'found "@wn"; did you mean @win?',
}
OPTIONS = {
    ("next", "@daily", "--from", "yesterday"): "Invalid value for --from: Invalid instant",
    ("next", "@daily", "--for", "7x"): "Invalid value for --for: Invalid duration",
    ("next", "@daily", "--dialect", "posx"): "must be one of extended, posix, found 'posx'; did you mean posix?",
    ("nxt",): "No such command 'nxt'; did you mean next?",
    ("zzz",): "No such command 'zzz'.\n",
    ("k8s", "vaildate"): "No such command 'vaildate'; did you mean validate?",
    ("import", "crntab"): "No such command 'crntab'; did you mean crontab?",
    ("next", "--summry"): "--summary",
}


@pytest.mark.parametrize(("keys", "message"), TOML.items())
def test_a_wrong_key_of_a_toml_file_is_named_with_its_job(keys: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "jobs.toml"
    file.write_text(f'[jobs.x]\ncommand = "true"\n{keys}\n')

    for answer in (kron("lint", str(file)), krond("check", "--config", str(file))):
        assert message in answer.err


@pytest.mark.parametrize(("line", "message"), LINES.items())
@pytest.mark.parametrize("form", ["line", "kron", "crontab"])
def test_a_wrong_part_of_a_line_is_named_as_the_line_writes_it(
    line: str, message: str, form: str, tmp_path: Path
) -> None:
    file = tmp_path / f"jobs.{form}"
    file.write_text(line + {"kron": " name=x command=true\n", "crontab": " true\n"}.get(form, ""))

    assert message in kron("lint", line if form == "line" else str(file)).err
    if form == "line":
        assert message in kron("explain", line).err


def test_a_wrong_field_of_a_kronjob_is_named_by_its_path(tmp_path: Path) -> None:
    spec = {"schedule": "61 3 * * *", "window": {"mode": "aftr"}, "constraints": {"only": ["dow=MONN"]}}
    document = {"apiVersion": "kron.io/v1alpha1", "kind": "KronJob", "metadata": {"name": "x"}, "spec": spec}
    (tmp_path / "x.yaml").write_text(json.dumps(document))

    found = kron("k8s", "validate", "-f", str(tmp_path / "x.yaml")).err

    assert 'spec.schedule: minute field value 61 is outside 0-59 in "61 3 * * *"; write a number from 0 to 59' in found
    assert 'spec.window.mode: must be one of after, around, found "aftr"; did you mean after?' in found
    assert 'spec.constraints.only[0]: has an unknown name (MONN), found "MONN"; did you mean MON?' in found


@pytest.mark.parametrize(("words", "message"), OPTIONS.items())
def test_a_wrong_word_of_a_command_is_named_with_its_option(words: tuple[str, ...], message: str) -> None:
    answer = kron(*words)

    assert answer.code == 2
    assert message in answer.err


def test_an_unknown_job_gets_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "jobs.toml").write_text('[jobs.backup]\nschedule = "@daily"\ncommand = "true"\n')

    answer = kron("feed", str(tmp_path / "jobs.toml"), "--job", "bakup")

    assert answer.err == "kron: error: bakup is not a job; did you mean backup?\n"
