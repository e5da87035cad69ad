"""Any text of a job file gives jobs and findings, never an exception."""

from hypothesis import given, strategies as st

from kron.jobfile.keys import KEYS
from kron.jobfile.settings import SETTINGS
from kron.jobfile.toml_syntax import format_key, format_value
from tests.jobfile.job_sets import PATHS, read, table
from tests.jobfile.test_writer import values

forms = st.sampled_from(list(PATHS))
fragments = [
    *("0 3 * * * ", "@daily ", "@reboot ", "@win(after,1h) ", "name=a ", "command=x ", "env=A=1 ", "# kron: ", "A=1\n"),
    *('"', "'", "\\", "%", "\n", "\r\n", "=", "[jobs.a]\n", 'schedule = "@daily"\n', "command = []\n", "{", "}", ","),
]
pieces = st.lists(st.sampled_from(fragments) | st.text(max_size=3), max_size=12).map("".join)
anything = values | st.floats() | st.dates() | st.datetimes(timezones=st.none())


@given(pieces, forms)
def test_any_text_is_read(text: str, form: str) -> None:
    found = read(text, form)

    assert all(finding.line >= 1 and str(finding).isprintable() for finding in found.findings)


@given(st.sampled_from(list(KEYS)), anything)
def test_any_value_of_a_key_is_read_or_refused_at_its_line(key: str, value: object) -> None:
    found = read(table(f"{format_key(key)} = {format_value(value)}"))

    assert len(found.jobs) == (0 if found.findings else 1)
    assert {finding.line for finding in found.findings} <= {3}


@given(st.sampled_from(list(SETTINGS)), anything)
def test_any_value_of_a_setting_is_read_or_refused_at_its_line(key: str, value: object) -> None:
    assert {finding.line for finding in read(f"[krond]\n{key} = {format_value(value)}").findings} <= {2}


@given(st.dictionaries(st.sampled_from(["jobs", "defaults", "krond"]), values))
def test_any_table_is_read(document: dict[str, object]) -> None:
    text = "".join(f"{key} = {format_value(value)}\n" for key, value in document.items())

    assert all(1 <= finding.line <= 3 for finding in read(text).findings)
