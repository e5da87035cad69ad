"""fix_in_line, fix_of_job: what a fix looks like in a schedule line, and in the file that a job is from."""

from kron.decision.line import Modifier, TrailingText, parse_line
from kron.errors import Fix, Remedy
from kron.jobfile.host_job import HostJob
from kron.jobfile.keys import KEYS
from kron.jobfile.toml_syntax import format_value


def fix_in_line(fix: Remedy, line: str) -> str:
    """Return a fix in the words of a line of this text, which is valid.

    A line has each modifier once: what one says is changed inside it.
    """
    if not isinstance(fix, Fix):
        return str(fix)
    return _in_modifier(fix, _modifier(fix, line))


def fix_of_job(fix: Remedy, job: HostJob) -> str:
    """Return a fix in the words of the file of a job: of a line, also in a crontab, or of a TOML table.

    A table says each part once: what the modifiers of its schedule say is changed there.
    """
    if not isinstance(fix, Fix):
        return str(fix)
    modifier = _modifier(fix, job.schedule)
    if not job.prefix or (modifier is not None and _says(modifier, fix.key)):
        return _in_modifier(fix, modifier)
    return fix.worded(f"{fix.key} = {format_value(fix.value)}", "write" if fix.key in job.line_offsets else "add")


def _modifier(fix: Fix, line: str) -> Modifier | None:
    return parse_line(line, trailing=TrailingText.COMMAND).modifiers.get(KEYS[fix.key].modifier)


def _in_modifier(fix: Fix, modifier: Modifier | None) -> str:
    setting = f"{fix.key}={fix.text}"
    if modifier is None:
        return fix.worded(f"@{KEYS[fix.key].modifier}({setting})", "add")
    return f"in @{modifier.name}(…) {fix.worded(setting)}"


def _says(modifier: Modifier, key: str) -> bool:
    return any(word.partition("=")[0].strip() == key for word in modifier.words())
