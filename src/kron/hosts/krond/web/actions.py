"""Actions: suspend, resume and trigger from a page: first a question, then a form that only our page can have sent."""

import asyncio
import hmac
import secrets
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from kron.hosts.krond.control_server import CommandHandler
from kron.hosts.krond.web.views import Page, message_page
from kron.instant import Instant
from kron.rules.job_record import JobRecord
from kron.web.format import job_path

_QUESTIONS = {
    "suspend": "Suspend this job? Nothing of it is handled until it is resumed, also over restarts.",
    "resume": "Resume this job? What came meanwhile is judged by its deadline.",
    "trigger": "Run this job now, outside its periods?",
}
ACTIONS = frozenset(_QUESTIONS)
_LONGEST = 4096  # bytes of a form
_PATIENCE = 10.0  # seconds for sending it
_FORBIDDEN = "krond did not make this form, or was started anew since: open the job's page, and choose there."


class Actions:
    """Asks before anything is done, and does what the daemon's own handlers do."""

    def __init__(self, handlers: Mapping[str, CommandHandler], *, patience: float = _PATIENCE) -> None:
        self._handlers, self._patience = handlers, patience
        self._secret = secrets.token_bytes(32)

    def question(self, record: JobRecord, action: str, now: Instant) -> bytes:
        """Return the page that asks."""
        csrf = self._sign(record.identity, action)
        context = {"question": _QUESTIONS[action], "job": record, "action": action, "csrf": csrf}
        return Page("confirm.html", f"{action.capitalize()} {record.name}", context).html(now)

    async def act(self, request: Request, record: JobRecord, action: str, now: Instant) -> Response:
        """Do it, and lead back to the job; a form that is not ours does nothing."""
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
            return HTMLResponse(message_page("Nothing was done", _FORBIDDEN, back=record).html(now), 403)
        asked: dict[str, object] = {"job": record.identity, "jobs": [record.identity]}
        if form.get("until", "").strip():
            asked["until"] = form["until"].strip()
        await self._handlers[action](asked)
        return RedirectResponse(job_path(record.name, record.identity), 303)

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
