"""PageApp: the routes of the pages, a cache of answers, and the threads that make them, never the scheduler's loop."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from importlib.metadata import distributions
from importlib.resources import files
from time import monotonic
from typing import TypeAlias, TypeVar
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from kron.cron.wall_time import read_moment
from kron.cron.zone import UTC_ZONE
from kron.engine.ledger import JobDefinition
from kron.errors import (
    ControlError,
    InvalidDefinitionError,
    JobActiveError,
    KronError,
    LedgerUnusableError,
    OutOfRangeError,
    UnknownJobError,
)
from kron.instant import SECOND, Instant, format_instant, shift
from kron.web.actions import ACTIONS, PATIENCE, Actions
from kron.web.forecast_worker import ForecastWorkers
from kron.web.live import ChangeFeed
from kron.web.queries import JobQueries
from kron.web.source import JobControl, PageSource
from kron.web.template import render
from kron.web.views import (
    SPANS,
    Page,
    job_page,
    load_page,
    message_page,
    monitor_page,
    overview,
    run_page,
    waiting_page,
    why_page,
)

_MOST = 32  # answers


_Made: TypeAlias = tuple[bytes | Exception, float]  # an answer, or why there is none, and when it was made


class TtlCache:
    """Keeps answers for some seconds. Requests that ask for the same answer at once share one computation."""

    def __init__(self, seconds: float, *, failures: float = 0.0) -> None:
        """`failures`: seconds for which a failure is kept before it is tried again."""
        self._seconds, self._failures = seconds, failures
        self._made: dict[object, asyncio.Future[_Made]] = {}

    async def get(self, key: object, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the answer for a key, or raise the error of its computation."""
        found = self._made.get(key)
        if found is None or not self._is_fresh(found):
            self._made.pop(key, None)
            found = self._made[key] = asyncio.ensure_future(_timed(make))
            for old in list(self._made)[:-_MOST]:
                del self._made[old]
        body, _ = await asyncio.shield(found)
        if isinstance(body, Exception):
            raise body
        return body

    def _is_fresh(self, found: "asyncio.Future[_Made]") -> bool:
        if not found.done():
            return True
        if found.cancelled():
            return False
        body, at = found.result()
        return monotonic() < at + (self._failures if isinstance(body, Exception) else self._seconds)


async def _timed(make: Callable[[], Awaitable[bytes]]) -> _Made:
    try:
        return await make(), monotonic()
    except Exception as error:
        return error, monotonic()


_USUAL = 7 * 86_400  # seconds
_LONGEST = timedelta(days=400)


def requested(queries: JobQueries, job: str, since: str, until: str) -> tuple[list[JobDefinition], Instant, Instant]:
    """Return the jobs of a feed, one or all, and its span: by default the next week."""
    now, zone, identity = queries.now().replace(microsecond=0), UTC_ZONE, None
    if job:
        identity = queries.find(job)
        if queries.job(identity).spec is None:
            raise ControlError(reason=f"{job} is no longer defined")
        zone = queries.zone(identity)
    begin = read_moment(since, zone, now) if since else now
    end = read_moment(until, zone, now) if until else shift(begin, SECOND * _USUAL)
    if end < begin:
        raise InvalidDefinitionError(field="to", found=until, reason=f"lies before from, {format_instant(begin)}")
    if end - begin > _LONGEST:
        raise InvalidDefinitionError(field="to", found=until, reason=f"lies more than {_LONGEST.days} days after from")
    return queries.definitions(identity), begin, end


_THREADS = 2  # that render pages: a long history does not delay all other pages
_FRESH = 1.0  # seconds for which all clients get the same page
_COUNTED = 300.0  # seconds for which the load is kept
_FAILED = 30.0  # seconds before the load is counted again after that took too long
_PATIENCE = 4.0  # seconds after which a page says that the load is still being counted
_FEEDS = {"ics": "text/calendar; charset=utf-8", "json": "application/json", "csv": "text/csv; charset=utf-8"}
_STATIC = {"kron.css": "text/css", "kron.js": "text/javascript", "kron.svg": "image/svg+xml"}
_SHORT = {"cache-control": "private, max-age=300"}  # a new version is there soon
_PLAIN = "text/plain; charset=utf-8"
_STATUS: Mapping[type[KronError], int] = {
    UnknownJobError: 404,
    ControlError: 409,
    JobActiveError: 409,
    LedgerUnusableError: 503,
}
_MENU = (("/", "Overview"), ("/load", "Load"), ("/why", "Why?"), ("/monitor", "Monitor"))
_NOT_OF_A_FILE = re.compile(r"[^\w.-]", re.ASCII)
_NO_PAGE = "This page does not exist."
_NO_DOCS = "The documentation is not served here. It is in the directory docs of the sources; make docs builds it."
_TITLES = {300: "Which one?", 404: "Not found", 409: "Not now", 503: "Not available"}


def docs_address(urls: Iterable[str]) -> str:
    """Return the address of the documentation among the URLs of a package, empty if it has none."""
    return dict(each.split(", ", 1) for each in urls).get("Documentation", "").rstrip("/")


_DOCS = docs_address(
    url for found in distributions(name="kron-scheduler") for url in found.metadata.get_all("Project-URL") or ()
)

Made = TypeVar("Made")
Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class PageApp:
    """The pages of one scheduler as an ASGI application, under any prefix."""

    def __init__(
        self,
        source: PageSource,
        feed: ChangeFeed,
        *,
        control: JobControl | None = None,
        routes: Sequence[Route] = (),
        patience: float = PATIENCE,
        docs: str = _DOCS,
    ) -> None:
        """`routes` come first. No `control`: jobs are read-only. No `docs`: terms link to `docs` below the pages."""
        self._source, self._queries, self._changes, self._docs = source, source.jobs, feed, docs
        self._actions = None if control is None else Actions(control, self._queries, self._html, patience=patience)
        self._pool = ThreadPoolExecutor(_THREADS, "page")
        self._kept, self._counted = TtlCache(_FRESH), TtlCache(_COUNTED, failures=_FAILED)
        self._workers = ForecastWorkers()
        self._site = Starlette(routes=[*routes, *self._routes()])
        self._site.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._site(scope, receive, send)

    def _routes(self) -> list[Route]:
        return [
            Route("/", self._guarded(self._overview)),
            Route("/jobs/{rest:path}", self._guarded(self._job), methods=["GET", "POST"]),
            Route("/runs/{rest:path}", self._guarded(self._run)),
            Route("/why", self._guarded(self._why)),
            Route("/monitor", self._guarded(self._monitor)),
            Route("/load", self._guarded(self._load)),
            *(Route(f"/feed.{form}", self._guarded(partial(self._feed, form))) for form in _FEEDS),
            Route("/events", self._changes, methods=["GET"]),
            Route("/static/{name}", _static),
            Route("/{rest:path}", self._nothing),
        ]

    def close(self) -> None:
        """Stop rendering pages, and end the processes that count."""
        self._changes.close()
        self._workers.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    # --- the pages ----------------------------------------------------------------------------------------------------

    async def _overview(self, request: Request) -> Response:
        search, page = request.query_params.get("q", "").strip(), _number(request.query_params.get("page", "0"))
        return await self._shown(request, ("overview", search, page), lambda: overview(self._source, search, page))

    async def _job(self, request: Request) -> Response:
        name, *rest = _parts(request)
        if len(rest) > 1 or (rest and rest[0] not in ACTIONS) or (request.method == "POST" and not rest):
            return self._missing(request)
        queries, asked = self._queries, request.query_params.get("identity", "")
        identity = await self._in_thread(partial(queries.find, name, asked))
        if not rest:
            return await self._shown(request, ("job", identity), lambda: job_page(self._source, identity))
        if self._actions is None:
            return self._missing(request)
        return await self._actions.answer(request, identity, rest[0])

    async def _run(self, request: Request) -> Response:
        run_id, *rest = _parts(request)
        row = await self._in_thread(partial(self._queries.history.run, run_id))
        if row is None or rest not in ([], ["output"]):
            return self._missing(request)
        if not rest:
            return await self._shown(request, ("run", run_id), lambda: run_page(self._source, run_id, row))
        output = self._source.output(run_id)
        if output is None:
            return self._missing(request)
        parts = output.stream()
        first = await asyncio.to_thread(next, parts, b"")
        return StreamingResponse(_rest(first, parts), headers={"content-type": _PLAIN})

    async def _why(self, request: Request) -> Response:
        job, at = (request.query_params.get(key, "").strip() for key in ("job", "at"))
        try:
            page = await self._in_thread(partial(why_page, self._queries, job, at))
        except KronError as error:
            if error.details.get("identities"):
                raise
            page = why_page(self._queries, job, at, refusal=error.message)
            return HTMLResponse(self._html(page, request), _status(error))
        return HTMLResponse(self._html(page, request))

    async def _monitor(self, request: Request) -> Response:
        found = self._source.violations()
        if found is None:
            return self._missing(request)
        return await self._shown(request, "monitor", lambda: monitor_page(found))

    async def _load(self, request: Request) -> Response:
        name = request.query_params.get("span", "day")
        if name not in SPANS:
            return self._missing(request)

        def make() -> bytes:
            return self._html(load_page(self._queries, self._workers, name), request)

        key = (name, self._changes.generation, _root(request))
        try:
            async with asyncio.timeout(_PATIENCE):
                return HTMLResponse(await self._counted.get(key, lambda: asyncio.to_thread(make)))
        except TimeoutError:
            return HTMLResponse(self._html(waiting_page(name), request), headers={"refresh": "2"})

    async def _feed(self, form: str, request: Request) -> Response:
        asked = (request.query_params.get(key, "").strip() for key in ("job", "from", "to"))
        jobs, since, until = await self._in_thread(partial(requested, self._queries, *asked))
        parts = self._workers.ask(form, jobs, since, until)
        first = await asyncio.to_thread(next, parts, b"")  # an error is the answer as long as nothing is sent
        name = _NOT_OF_A_FILE.sub("_", self._source.product)
        headers = {"content-type": _FEEDS[form], "content-disposition": f'inline; filename="{name}.{form}"'}
        return StreamingResponse(_rest(first, parts), headers=headers)

    # --- rendering ----------------------------------------------------------------------------------------------------

    async def _shown(self, request: Request, key: object, make: Callable[[], Page]) -> Response:
        body = await self._kept.get((key, _root(request)), lambda: self._in_thread(lambda: self._html(make(), request)))
        return HTMLResponse(body)

    def _html(self, page: Page, request: Request) -> bytes:
        """Return a page in the frame that all pages have."""
        source = self._source
        has_monitor = source.violations() is not None
        frame = {
            "title": page.title,
            "product": source.product,
            "root": _root(request),
            "menu": [(path, name) for path, name in _MENU if path != "/monitor" or has_monitor],
            "path": page.path,
            "docs": self._docs or f"{_root(request)}/docs",
            "about": page.about,
            "every": page.every,
            "can_act": self._actions is not None,
            "now": self._queries.now(),
        }
        return render(page.template, {**page.context, **frame}).encode()

    async def _in_thread(self, make: Callable[[], Made]) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self._pool, make)

    def _guarded(self, page: Handler) -> Handler:
        async def answer(request: Request) -> Response:
            try:
                return await page(request)
            except KronError as error:
                return self._refused(request, error)
            except OverflowError:  # of an instant in its zone, for one
                return self._refused(request, OutOfRangeError(what="that"))

        return answer

    def _refused(self, request: Request, error: KronError) -> Response:
        """Return the page for an error."""
        status = _status(error)
        several = error.details.get("identities", ())
        if not isinstance(error, UnknownJobError) or not isinstance(several, list) or not several:
            return self._message(request, error.message, status=status)
        jobs = [{"name": str(error.details["job"]), "identity": each} for each in several]
        return self._message(request, "Several jobs have this name:", jobs=jobs, status=300)

    async def _nothing(self, request: Request) -> Response:
        is_documentation = request.path_params["rest"].startswith("docs/")
        return self._message(request, _NO_DOCS if is_documentation else _NO_PAGE, status=404)

    def _missing(self, request: Request) -> Response:
        return self._message(request, _NO_PAGE, status=404)

    def _message(
        self, request: Request, message: str, *, jobs: Sequence[Mapping[str, str]] = (), status: int
    ) -> Response:
        title = _TITLES.get(status, "This cannot be answered")
        return HTMLResponse(self._html(message_page(title, message, jobs=jobs), request), status)


async def _rest(first: bytes, parts: Generator[bytes, None, None]) -> AsyncIterator[bytes]:
    """Yield an answer as fast as the client reads it; if the client leaves, end the process that computes it."""
    try:
        while first:
            yield first
            first = await asyncio.to_thread(next, parts, b"")
    finally:
        await asyncio.to_thread(parts.close)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return PlainTextResponse("not found\n", 404)
    data = files("kron.web").joinpath("static", name).read_bytes()
    return Response(data, media_type=_STATIC[name], headers=_SHORT)


def _root(request: Request) -> str:
    """Return the prefix under which the pages are mounted."""
    return str(request.scope.get("root_path", ""))


def _parts(request: Request) -> list[str]:
    """Return the parts of a path after the first one, unquoted."""
    path = bytes(request.scope["raw_path"]).decode("latin-1").partition("?")[0]
    path = path.removeprefix(quote(_root(request)))
    return [unquote(part) for part in path.split("/")[2:]]


def _status(error: KronError) -> int:
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 400)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
