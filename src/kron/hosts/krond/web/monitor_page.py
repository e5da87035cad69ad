"""monitor_page(sight) -> bytes: what the monitor of the theory has to say about this life of the daemon."""

from kron.hosts.krond.web.document import document, section
from kron.hosts.krond.web.html import Child, table, tag
from kron.hosts.krond.web.sight import Sight
from kron.theory.properties import SUITES
from kron.theory.report import Finding

_HEADS = ("Name", "What it says", "Verdict", "Explanation")


def monitor_page(sight: Sight) -> bytes:
    """Return the page: each property, whether it was violated, by whom, and what led there."""
    found = {finding.subject.name: finding for finding in sight.violations}
    suite = SUITES["kron"].properties
    heads = _HEADS if found else _HEADS[:-1]
    rows = [
        (each.name, each.sentence, _verdict(found.get(each.name)), _told(found.get(each.name)))[: len(heads)]
        for each in sorted(suite, key=lambda each: each.name not in found)
    ]
    summary = f"{len(found)} of {len(suite)} properties were violated since krond started." if found else None
    return document(
        "Monitor",
        section(
            "properties",
            "Properties",
            tag("p", summary or f"None of {len(suite)} properties was violated since krond started."),
            table("Properties", heads, rows, empty=""),
        ),
        now=sight.now(),
        path="/monitor",
    )


def _verdict(finding: Finding | None) -> Child:
    if finding is None:
        return tag("span", tag("span", "✓", aria_hidden="true"), " not violated", class_="badge good")
    return tag("span", tag("span", "✗", aria_hidden="true"), " violated", class_="badge bad")


def _told(finding: Finding | None) -> Child:
    if finding is None:
        return None
    blame = "" if finding.blame is None else f"{finding.blame.value}: "
    return f"{blame}{finding.explanation}"
