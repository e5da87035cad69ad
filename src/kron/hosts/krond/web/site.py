"""make_site(view, pages) -> application: what a daemon shows, as plain routes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


@dataclass(frozen=True, slots=True)
class View:
    """All that pages see of a daemon."""

    is_turning: Callable[[], bool]  # whether its loop does what it is there for
    metrics: Callable[[], Awaitable[bytes]]


def make_site(view: View, pages: Sequence[Route] = ()) -> Starlette:
    """Return the pages; whatever else is asked for is not there."""

    async def healthz(_: Request) -> Response:
        turns = view.is_turning()
        return PlainTextResponse("ok" if turns else "the scheduler does not turn", 200 if turns else 503)

    async def metrics(_: Request) -> Response:
        return Response(await view.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")

    site = Starlette(routes=[Route("/healthz", healthz), Route("/metrics", metrics), *pages])
    site.router.redirect_slashes = False
    return site
