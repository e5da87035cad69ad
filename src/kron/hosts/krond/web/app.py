"""The pages of a daemon: routes, a cache of answers, and the threads that make them, never the daemon's loop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from importlib.resources import files
from time import monotonic
from typing import NamedTuple, TypeAlias, TypeVar
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from kron.cron.wall_time import read_moment
from kron.cron.zone import UTC_ZONE
from kron.engine.jobs.job_state import JobState
from kron.errors import (
    ControlError,
    InvalidDefinitionError,
    JobActiveError,
    KronError,
    LedgerUnusableError,
    OutOfRangeError,
    UnknownJobError,
)
from kron.forecast.runs import later
from kron.hosts.krond.control_server import CommandHandler
from kron.hosts.krond.web.actions import ACTIONS, Actions
from kron.hosts.krond.web.forecast_worker import ForecastWorkers
from kron.hosts.krond.web.live import ChangeFeed
from kron.hosts.krond.web.load_page import SPANS, load_page, waiting_page
from kron.hosts.krond.web.queries import JobQueries
from kron.hosts.krond.web.views import Page, job_page, message_page, monitor_page, overview, run_page, why_page
from kron.instant import Instant, format_instant


@dataclass(frozen=True, slots=True)
class PageProbes:
    """All that pages see of a daemon."""

    is_turning: Callable[[], bool]  # whether its loop does what it is there for
    metrics: Callable[[], Awaitable[bytes]]


def create_app(view: PageProbes, pages: Sequence[Route] = ()) -> Starlette:
    """Return the pages; whatever else is asked for is not there."""

    async def healthz(_: Request) -> Response:
        turns = view.is_turning()
        return PlainTextResponse("ok" if turns else "the scheduler does not turn", 200 if turns else 503)

    async def metrics(_: Request) -> Response:
        return Response(await view.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")

    site = Starlette(routes=[Route("/healthz", healthz), Route("/metrics", metrics), *pages])
    site.router.redirect_slashes = False
    return site


_MOST = 32  # answers


class _Made(NamedTuple):
    body: bytes | Exception
    at: float


class TtlCache:
    """An answer is made by one, and waited for by the others; who comes while it is fresh gets it as well."""

    def __init__(self, seconds: float, *, failures: float = 0.0) -> None:
        """`failures`: seconds for which what could not be made is not tried anew."""
        self._seconds, self._failures = seconds, failures
        self._made: dict[object, asyncio.Future[_Made]] = {}

    async def get(self, key: object, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the answer to a key, or raise why it cannot be made."""
        found = self._made.get(key)
        if found is None or not self._is_fresh(found):
            self._made.pop(key, None)
            found = self._made[key] = asyncio.ensure_future(_timed(make))
            for old in list(self._made)[:-_MOST]:
                del self._made[old]
        body = (await asyncio.shield(found)).body
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
        return _Made(await make(), monotonic())
    except Exception as error:
        return _Made(error, monotonic())


_USUAL = 7 * 86_400  # seconds
_LONGEST = timedelta(days=400)


def wanted(sight: JobQueries, job: str, since: str, until: str) -> tuple[list[JobState], Instant, Instant]:
    """Return the jobs, one or all, and the span: from now on and for a week, if nothing else is said."""
    now = sight.now().replace(microsecond=0)
    jobs, zone = sight.jobs(), UTC_ZONE
    if job:
        found = sight.job(sight.find(job, ""))
        if found is None:
            raise ControlError(reason=f"{job} is not defined any more")
        jobs = [found]
        zone = zone if found.work.timing is None else found.work.timing.schedule.zone
    begin = read_moment(since, zone, now) if since else now
    end = read_moment(until, zone, now) if until else later(begin, _USUAL)
    if end < begin:
        raise InvalidDefinitionError(field="to", found=until, reason=f"lies before from, {format_instant(begin)}")
    if end - begin > _LONGEST:
        raise InvalidDefinitionError(field="to", found=until, reason=f"lies more than {_LONGEST.days} days after from")
    return jobs, begin, end


_THREADS = 2  # that make pages: who asks for a long history does not hold up all others
_FRESH = 1.0  # seconds for which a page is good enough for everybody
_COUNTED = 300.0  # and for which the load is
_FAILED = 30.0  # seconds for which it is not counted anew if that took too long
_PATIENCE = 4.0  # seconds after which a visitor is told that it is still being counted
_FEEDS = {"ics": "text/calendar; charset=utf-8", "json": "application/json", "csv": "text/csv; charset=utf-8"}
_STATIC = {"krond.css": "text/css", "krond.js": "text/javascript", "krond.svg": "image/svg+xml"}
_SHORT = {"cache-control": "private, max-age=300"}  # a new version is there soon
_PLAIN = "text/plain; charset=utf-8"
_STATUS: Mapping[type[KronError], int] = {
    UnknownJobError: 404,
    ControlError: 409,
    JobActiveError: 409,
    LedgerUnusableError: 503,
}
_TITLES = {300: "Which one?", 404: "Not found", 409: "Not now", 503: "Not available"}

Made = TypeVar("Made")
Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class PageApp:
    """All pages of one daemon."""

    def __init__(self, sight: JobQueries, handlers: Mapping[str, CommandHandler], hub: ChangeFeed) -> None:
        self._sight, self._hub = sight, hub
        self._actions = Actions(handlers)
        self._pool = ThreadPoolExecutor(_THREADS, "krond-page")
        self._kept, self._counted = TtlCache(_FRESH), TtlCache(_COUNTED, failures=_FAILED)
        self._foresight = ForecastWorkers()

    def routes(self) -> list[Route]:
        """Return where each is."""
        return [
            Route("/", self._guarded(self._overview)),
            Route("/jobs/{rest:path}", self._guarded(self._job), methods=["GET", "POST"]),
            Route("/runs/{rest:path}", self._guarded(self._run)),
            Route("/why", self._guarded(self._why)),
            Route("/monitor", self._guarded(self._monitor)),
            Route("/load", self._guarded(self._load)),
            *(Route(f"/feed.{form}", self._guarded(partial(self._feed, form))) for form in _FEEDS),
            Route("/events", self._hub, methods=["GET"]),
            Route("/static/{name}", _static),
            Route("/{rest:path}", self._nothing),
        ]

    def close(self) -> None:
        """Make no pages any more."""
        self._hub.close()
        self._foresight.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    # --- each of them -------------------------------------------------------------------------------------------------

    async def _overview(self, request: Request) -> Response:
        search, page = request.query_params.get("q", "").strip(), _number(request.query_params.get("page", "0"))
        return await self._shown(("overview", search, page), partial(overview, self._sight, search, page))

    async def _job(self, request: Request) -> Response:
        name, *rest = _parts(request)
        if len(rest) > 1 or (rest and rest[0] not in ACTIONS) or (request.method == "POST" and not rest):
            return self._missing()
        sight, asked = self._sight, request.query_params.get("identity", "")
        identity = await self._in_thread(partial(sight.find, name, asked))
        if not rest:
            return await self._shown(("job", identity), partial(job_page, sight, identity))
        job = sight.job(identity)
        if job is None:
            raise UnknownJobError(job=identity)
        if request.method == "POST":
            return await self._actions.act(request, job.record, rest[0], sight.now())
        return HTMLResponse(self._actions.question(job.record, rest[0], sight.now()))

    async def _run(self, request: Request) -> Response:
        run_id, *rest = _parts(request)
        row = await self._in_thread(partial(self._sight.run, run_id))
        if row is None or rest not in ([], ["output"]):
            return self._missing()
        if rest:
            parts = self._sight.output(row).stream()
            first = await asyncio.to_thread(next, parts, b"")
            return StreamingResponse(_rest(first, parts), headers={"content-type": _PLAIN})
        return await self._shown(("run", run_id), partial(run_page, self._sight, row))

    async def _why(self, request: Request) -> Response:
        job, at = (request.query_params.get(key, "").strip() for key in ("job", "at"))
        try:
            return HTMLResponse(await self._in_thread(lambda: self._html(why_page(self._sight, job, at))))
        except KronError as error:
            if error.details.get("identities"):
                raise
            return HTMLResponse(self._html(why_page(self._sight, job, at, refusal=error.message)), _status(error))

    async def _monitor(self, _: Request) -> Response:
        return await self._shown("monitor", partial(monitor_page, self._sight))

    async def _load(self, request: Request) -> Response:
        name = request.query_params.get("span", "day")
        if name not in SPANS:
            return self._missing()

        def make() -> bytes:
            return self._html(load_page(self._sight, self._foresight, name))

        try:
            async with asyncio.timeout(_PATIENCE):
                return HTMLResponse(await self._counted.get((name, self._hub.plans), lambda: asyncio.to_thread(make)))
        except TimeoutError:
            return HTMLResponse(self._html(waiting_page(name)), headers={"refresh": "2"})

    async def _feed(self, form: str, request: Request) -> Response:
        asked = (request.query_params.get(key, "").strip() for key in ("job", "from", "to"))
        jobs, since, until = await self._in_thread(partial(wanted, self._sight, *asked))
        parts = self._foresight.ask(form, jobs, since, until)
        first = await asyncio.to_thread(next, parts, b"")  # what is wrong is told before anything is sent
        headers = {"content-type": _FEEDS[form], "content-disposition": f'inline; filename="krond.{form}"'}
        return StreamingResponse(_rest(first, parts), headers=headers)

    # --- how they are made --------------------------------------------------------------------------------------------

    async def _shown(self, key: object, make: Callable[[], Page]) -> Response:
        return HTMLResponse(await self._kept.get(key, lambda: self._in_thread(lambda: self._html(make()))))

    def _html(self, page: Page) -> bytes:
        return page.html(self._sight.now())

    async def _in_thread(self, make: Callable[[], Made]) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self._pool, make)

    def _guarded(self, page: Handler) -> Handler:
        async def answer(request: Request) -> Response:
            try:
                return await page(request)
            except KronError as error:
                return self._refused(error)
            except OverflowError:  # of an instant in its zone, for one
                return self._refused(OutOfRangeError(what="that"))

        return answer

    def _refused(self, error: KronError) -> Response:
        """Return what is said to a visitor who asked for something that cannot be."""
        status = _status(error)
        several = error.details.get("identities", ())
        if not isinstance(error, UnknownJobError) or not isinstance(several, list) or not several:
            return self._told(error.message, status=status)
        jobs = [{"name": str(error.details["job"]), "identity": each} for each in several]
        return self._told("Several jobs have this name:", jobs=jobs, status=300)

    async def _nothing(self, _: Request) -> Response:
        return self._missing()

    def _missing(self) -> Response:
        return self._told("There is nothing here.", status=404)

    def _told(self, message: str, *, jobs: Sequence[Mapping[str, str]] = (), status: int) -> Response:
        title = _TITLES.get(status, "This cannot be answered")
        return HTMLResponse(self._html(message_page(title, message, jobs=jobs)), status)


async def _rest(first: bytes, parts: Generator[bytes, None, None]) -> AsyncIterator[bytes]:
    """Yield an answer as fast as it is read; who leaves leaves no process behind."""
    try:
        while first:
            yield first
            first = await asyncio.to_thread(next, parts, b"")
    finally:
        await asyncio.to_thread(parts.close)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return PlainTextResponse("there is nothing here\n", 404)
    data = files("kron.hosts.krond.web").joinpath("static", name).read_bytes()
    return Response(data, media_type=_STATIC[name], headers=_SHORT)


def _parts(request: Request) -> list[str]:
    """Return what follows the first word of a path, each part as it was before it was quoted."""
    path = bytes(request.scope["raw_path"]).decode("latin-1").partition("?")[0]
    return [unquote(part) for part in path.split("/")[2:]]


def _status(error: KronError) -> int:
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 400)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
