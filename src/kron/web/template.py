"""Templates of pages: one environment, in which every value is escaped and every control character is made visible."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kron.rules.evidence import ahead_text
from kron.web.format import (
    TERMS,
    age,
    badge_of,
    clock,
    duration,
    job_path,
    last_badge,
    pluralize,
    reason_of,
    run_path,
    shown_time,
    summary_of,
)

# Controls, halves of characters, no characters, and letters that change the direction of others.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def visible(value: object) -> str | int | float:
    """Return a value as a template shows it: None as nothing, invisible characters replaced."""
    if isinstance(value, int | float):
        return value
    text = "" if value is None else value if isinstance(value, str) else str(value)
    return text if text.isprintable() else type(text)(_INVISIBLE.sub("\ufffd", text))


def render(template: str, context: Mapping[str, object]) -> str:
    """Return a page."""
    return environment().get_template(template).render(context)


def compile_templates() -> None:
    """Compile all templates, which takes a tenth of a second, before the first request."""
    for name in environment().list_templates():
        environment().get_template(name)


def inline_file(name: str) -> Markup:
    """Return a static file of this package, unescaped, for a page in one file."""
    return Markup(files("kron.web").joinpath("static", name).read_text("utf-8"))


@cache
def environment() -> Environment:
    """Return the environment of all templates."""
    found = Environment(
        loader=PackageLoader("kron.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters = (age, ahead_text, badge_of, clock, duration, pluralize, reason_of, shown_time, summary_of)
    found.filters |= {each.__name__: each for each in filters}
    found.filters["grouped"] = "{:,}".format
    found.globals |= {"job_path": job_path, "last_badge": last_badge, "run_path": run_path, "terms": TERMS, "zip": zip}
    return found
