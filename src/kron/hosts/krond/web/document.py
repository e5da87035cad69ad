"""document(title, …) -> the bytes of a page: one frame around all of them, with landmarks and ways to the others."""

from urllib.parse import urlencode

from kron.hosts.krond.web.format import clock
from kron.hosts.krond.web.html import Child, tag
from kron.instant import Instant

_WAYS = (("/", "Overview"), ("/load", "Load"), ("/why", "Why?"), ("/monitor", "Monitor"))


def document(
    title: str, *content: Child, now: Instant, path: str = "", about: str | None = None, every: int | None = None
) -> bytes:
    """Return a page. Parts with an id and `data-live` are fetched anew when something happens, or `every` seconds.

    Of a page `about` a job that is something that happens to it.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · krond"),
        tag("link", rel="stylesheet", href="/static/krond.css"),
        tag("link", rel="icon", href="/static/krond.svg", type="image/svg+xml"),
        tag("script", src="/static/krond.js", defer=True),
    )
    ways = [tag("a", name, href=href, aria_current="page" if href == path else None) for href, name in _WAYS]
    live = tag("span", "", id="connection", role="status", title="Whether krond tells this page what happens")
    body = tag(
        "body",
        tag("a", "To the content", href="#content", class_="skip"),
        tag("header", tag("a", "krond", href="/", class_="brand"), tag("nav", ways, aria_label="Pages"), live),
        tag("main", tag("h1", title), content, id="content", tabindex="-1"),
        tag(
            "footer",
            "As of ",
            tag("time", f"{clock(now)} UTC", id="as-of", data_live=True),
            ". Times are in UTC, those of a job in its zone.",
        ),
        data_identity=about,
        data_every=every,
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n".encode()


def section(name: str, title: Child, *content: Child, live: bool = True) -> Child:
    """Return a part of a page under a heading."""
    heading = tag("h2", title, id=f"{name}-title")
    return tag("section", heading, content, id=name, aria_labelledby=f"{name}-title", data_live=live)


def feeds(job: str | None = None) -> Child:
    """Return where the runs of the coming week, of one job or of all, can be had in other forms."""
    asked = "" if job is None else f"?{urlencode({'job': job})}"
    forms = (("ics", "calendar"), ("json", "JSON"), ("csv", "CSV"))
    links = [
        [" · " if number else "", tag("a", name, href=f"/feed.{form}{asked}")]
        for number, (form, name) in enumerate(forms)
    ]
    return tag("p", "The expected runs of the coming week: ", links, class_="legend")


def notice(*content: Child, kind: str = "bad") -> Child:
    """Return something that should not be overlooked."""
    return tag("p", content, class_=f"notice {kind}")
