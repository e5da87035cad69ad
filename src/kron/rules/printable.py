"""safe_line, safe_text, safe_json: text of other programs and users, safe on a terminal and in a log."""

import re

# A terminal obeys C0 and C1 controls; line and paragraph separators end a line for many readers; bidi marks change the
# order in which the rest of a line is shown; half a surrogate pair cannot be encoded. Other invisible characters stay:
# scripts and emoji need them. `kron.errors.printable` is stricter: it shows a user what they mistyped.
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_OBEYED = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}]")
_OBEYED_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}]")


def safe_line(text: str) -> str:
    """Return `text` on one line, with each control character, line separator and bidi mark escaped as `\\x1b` is."""
    return text if text.isprintable() else _OBEYED.sub(_escape, text)


def safe_text(text: str) -> str:
    """Return `text` with newlines and tabs as they are, and all else escaped that `safe_line` escapes."""
    return text if text.isprintable() else _OBEYED_IN_LINES.sub(_escape, text)


def safe_json(text: str) -> str:
    """Return JSON text that means the same, with all escaped that `safe_text` escapes."""
    return text if text.isprintable() else _OBEYED_IN_LINES.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _escape(found: re.Match[str]) -> str:
    return ascii(found.group())[1:-1]
