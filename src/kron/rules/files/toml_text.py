"""write_toml(drafts) -> the TOML that says the same; reading it gives the same jobs."""

from collections.abc import Iterable

from kron.rules.files.draft import Draft
from kron.rules.files.spelling import spell_key, spell_table


def write_toml(drafts: Iterable[Draft], *, path: str = "") -> str:
    """Return a table for each draft; those of a file at `path` keep the identity that they have there."""
    return "\n".join(spell_table(f"jobs.{spell_key(draft.name)}", _entries(draft, path)) for draft in drafts)


def _entries(draft: Draft, path: str) -> dict[str, object]:
    entries = dict(draft.entries)
    kept = f"{path}:{draft.name}"
    if path and "identity" not in entries and not {"{", "}"} & set(kept):  # which would be taken for words in braces
        entries["identity"] = kept
    return entries
