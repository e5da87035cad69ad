"""Actions: suspend, resume and trigger from a page, by a form with a CSRF token."""

import asyncio
import hmac
import secrets
from collections.abc import Callable
from hashlib import sha256
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from kron.cron.zone import load_zone
from kron.errors import UnknownJobError
from kron.rules.job_record import JobRecord
from kron.web.format import job_path
from kron.web.queries import JobQueries, JobSummary
from kron.web.source import JobControl, parse_until
from kron.web.views import Page, message_page

_QUESTIONS = {
    "suspend": "Suspend this job? It stays suspended until it is resumed, also over restarts.",
    "resume": "Resume this job? Periods that were due meanwhile run only within their deadline.",
    "trigger": "Run this job now? Its scheduled runs stay as they are.",
}
ACTIONS = frozenset(_QUESTIONS)
_LONGEST = 4096  # bytes of a form
PATIENCE = 10.0  # seconds for sending it
_FORBIDDEN = "This form is not from this page, or the page was restarted since. Open the job's page and choose there."


class Actions:
    """Asks for confirmation, acts, and redirects to the job."""

    def __init__(
        self, control: JobControl, queries: JobQueries, html: Callable[[Page, Request], bytes], *, patience: float
    ) -> None:
        self._control, self._queries, self._html, self._patience = control, queries, html, patience
        self._secret = secrets.token_bytes(32)

    async def answer(self, request: Request, identity: str, action: str) -> Response:
        """Return the question, or act on its form. UnknownJobError: the job is no longer declared."""
        job = self._queries.job(identity)
        if job.written is None:
            raise UnknownJobError(job=identity)
        if request.method == "POST":
            return await self.act(request, job, action)
        return HTMLResponse(self._html(self.question(job.record, action), request))

    def question(self, record: JobRecord, action: str) -> Page:
        """Return the page that asks for confirmation."""
        csrf = self._sign(record.identity, action)
        context = {"question": _QUESTIONS[action], "job": record, "action": action, "csrf": csrf}
        return Page("confirm.html", f"{action.capitalize()} {record.name}", context)

    async def act(self, request: Request, job: JobSummary, action: str) -> Response:
        """Act, and redirect to the job; a form without the right CSRF token is refused."""
        record = job.record
        try:
            async with asyncio.timeout(self._patience):
                form = await _form(request)
        except TimeoutError:
            return PlainTextResponse("that took too long\n", 408, {"connection": "close"})
        except ClientDisconnect:
            return Response(status_code=400)
        if form is None:
            return PlainTextResponse("that is too much for a form\n", 413, {"connection": "close"})
        if not hmac.compare_digest(form.get("csrf", "").encode(), self._sign(record.identity, action).encode()):
            page = message_page("Nothing was done", _FORBIDDEN, back=record)
            return HTMLResponse(self._html(page, request), 403)
        await self._do(job, action, form.get("until", "").strip())
        root = request.scope.get("root_path", "")
        return RedirectResponse(f"{root}{job_path(record.name, record.identity)}", 303)

    async def _do(self, job: JobSummary, action: str, until: str) -> None:
        identity = job.record.identity
        if action == "trigger":
            await self._control.trigger(identity)
        elif action == "resume":
            await self._control.resume([identity])
        else:
            assert job.written is not None
            zone = load_zone(job.written.timezone)
            await self._control.suspend([identity], parse_until(until, zone, self._queries.now()) if until else None)

    def _sign(self, identity: str, action: str) -> str:
        return hmac.new(self._secret, f"{action} {identity}".encode(), sha256).hexdigest()


async def _form(request: Request) -> dict[str, str] | None:
    """Return the fields of a form, None if it is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST:
            return None
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=10)
    return {name: values[-1] for name, values in fields.items()}
