"""A crontab written as TOML reads back as the same jobs."""

import tomllib

from hypothesis import assume, given, strategies as st

from kron.jobfile.reader import read_drafts
from kron.jobfile.toml_syntax import format_key, format_value
from kron.jobfile.writer import write_toml
from tests.jobfile.job_sets import HERE, PATHS, read, source

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=8)
values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)

schedules = st.sampled_from(
    ["0 3 * * *", "*/5 * * * *", "@daily", "@hourly", "@reboot", "0 0 */2 * 1", "5,10 4\t1 JAN sun"]
)
modifiers = st.sampled_from(
    ["", "@win(after,2h)", "@tz(UTC) @win(around,90m)", "@dst(gap=skip)", "@policy(concurrency=forbid,deadline=1m)"]
)
commands = st.lists(words | st.sampled_from(["%", "\\%", "'a b'", "$HOME", "|", "#", "\\"]), min_size=1, max_size=4)
variables = st.sampled_from(
    ["A=1", "A=", 'B="  x "', "PATH=/opt:/bin", "SHELL=/bin/bash", "HOME=/srv", "CRON_TZ=Asia/Tokyo", "MAILTO=ann"]
)


@st.composite
def lines(draw: st.DrawFn, *, system: bool) -> str:
    schedule = draw(schedules)
    modifier = "" if schedule == "@reboot" else draw(modifiers)
    user = draw(st.sampled_from(["root", "ann"])) if system else ""
    command = "run " + " ".join(draw(commands))
    comment = draw(st.sampled_from(["", "", "# a comment\n", f"# kron: name=n{draw(st.integers(0, 10**6))}\n"]))
    return comment + " ".join(part for part in (schedule, modifier, user, command) if part)


@st.composite
def crontabs(draw: st.DrawFn) -> tuple[str, str]:
    system = draw(st.booleans())
    statements = draw(st.lists(lines(system=system) | variables, max_size=6))
    return "\n".join(statements), "system-crontab" if system else "crontab"


@given(crontabs())
def test_a_crontab_written_as_toml_gives_the_same_jobs(crontab: tuple[str, str]) -> None:
    text, form = crontab
    original = read(text, form)
    assume(all(finding.level != "error" for finding in original.findings))  # a name may have been drawn twice

    drafts, _ = read_drafts(source(text, form), HERE)
    back = read(write_toml(drafts, path=PATHS[form]))

    assert [str(finding) for finding in back.findings] == []
    assert back.jobs == original.jobs


def test_everything_that_cron_does_untold_is_written_out() -> None:
    drafts, _ = read_drafts(source("30 2 * * * ann run %in", "system-crontab"), HERE)

    document = tomllib.loads(write_toml(drafts, path="/etc/crontab"))

    ((name, table),) = document["jobs"].items()
    assert table == {
        "schedule": "30 2 * * *",
        "timezone": "Europe/Paris",
        "gap": "shift",
        "repeated": "first",
        "concurrency": "allow",
        "deadline": "10m",
        "command": "run",
        "shell": "/bin/sh",
        "stdin": "in",
        "user": "ann",
        "env": {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"},
        "identity": f"/etc/crontab:{name}",
    }


def test_a_text_without_a_path_leaves_the_identity_to_the_new_file() -> None:
    drafts, _ = read_drafts(source("30 2 * * * run", "crontab"), HERE)

    assert "identity" not in write_toml(drafts)


@given(st.dictionaries(texts, values, max_size=4))
def test_a_written_value_is_read_back(table: dict[str, object]) -> None:
    text = "".join(f"{format_key(key)} = {format_value(value)}\n" for key, value in table.items())

    assert tomllib.loads(text) == table
