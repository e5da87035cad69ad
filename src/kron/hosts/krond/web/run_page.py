"""run_page(sight, row) -> bytes: a run and the end of what it wrote."""

import re

from kron.hosts.krond.web.document import document, section
from kron.hosts.krond.web.html import facts, tag
from kron.hosts.krond.web.sight import Sight
from kron.hosts.krond.web.words import job_link, length, moment_of, reason, run_href, verdict
from kron.rules.history_row import HistoryRow

_TAIL = 64 * 1024  # bytes of output on the page; all of it is one link away
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-Z^-~])")
_BACK = re.compile(r"\r+\n?")
_OFTEN = 2  # seconds between two looks at what a run writes


def run_page(sight: Sight, row: HistoryRow) -> bytes:
    """Return the page; while the run goes on a browser looks again and again."""
    tail = sight.output(row).tail(_TAIL)
    written = tail.text()
    shown = _plain(written.decode("utf-8", "replace"))
    if tail.skipped:
        shown = shown.partition("\n")[2] or shown
    every = tag("a", "All of it, as text", href=f"{run_href(str(row['run_id']))}/output")
    size = tail.skipped + len(written)
    summary = f"The last {_TAIL // 1024} KiB of {size} bytes. " if tail.skipped else f"{size} bytes. "
    name, identity = str(row["name"]), str(row["identity"])
    zone = sight.zone(identity)
    how = reason(row)
    return document(
        f"Run {row['run_id']}",
        section(
            "run",
            [job_link(name, identity), " ", verdict(row)],
            facts(
                [
                    ("How", how if how != row["result"] else ""),
                    ("Kind", str(row["kind"])),
                    ("Period", str(row["period_id"] or "")),
                    ("Chosen", moment_of(row["chosen_time"], zone)),
                    ("Began", moment_of(row["started_at"], zone)),
                    ("Ended", moment_of(row["ended_at"], zone)),
                    ("Took", length(row["duration"])),
                    ("Late", length(row["lateness"]) if row["lateness"] else ""),
                    ("Exit code", "" if row["exit_code"] is None else str(row["exit_code"])),
                    ("Signal", str(row["signal"] or "")),
                    ("Attempt", f"{row['attempt']} of {row['attempts']}"),
                ]
            ),
        ),
        section(
            "output",
            "Output",
            tag("p", summary, every),
            tag("pre", shown, tabindex="0", aria_label="Output", class_="output") if shown else None,
        ),
        now=sight.now(),
        every=_OFTEN if row["state"] == "running" else None,
    )


def _plain(written: str) -> str:
    """Return what was written for a terminal without colours and titles; whatever went back goes on in a new line."""
    return _BACK.sub("\n", _TERMINAL.sub("", written))
