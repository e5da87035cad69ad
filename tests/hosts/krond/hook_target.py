"""Target: a web server for hooks that records its requests and answers from a script."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Event, Thread
from typing import NamedTuple

_NEVER = 120.0  # seconds after which a request no longer arrives

Answer = Callable[[BaseHTTPRequestHandler], None]


class HookRequest(NamedTuple):
    """One request."""

    method: str
    path: str
    body: str
    headers: dict[str, str]


def status(code: int, location: str = "") -> Answer:
    """Answer with a code, and where to go instead."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        if location:
            handler.send_header("Location", location)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


class Target:
    """`answers` are given in turn; then all is well."""

    def __init__(self, answers: Sequence[Answer] = ()) -> None:
        self.asked: Queue[HookRequest] = Queue()
        self.over = Event()
        self._answers = deque(answers)
        target = self

        class HookHandler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                target.asked.put(HookRequest(self.command, self.path, body, dict(self.headers)))
                (target._answers.popleft() if target._answers else status(200))(self)

            do_POST = do_GET  # noqa: N815  # as the server wants it

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), HookHandler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def take(self) -> HookRequest:
        """Return the next request, when it has come."""
        return self.asked.get(timeout=_NEVER)

    def close(self) -> None:
        """Stop the server and its open answers."""
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def say_nothing(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer never."""
        self.over.wait()
        handler.close_connection = True

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a byte at a time, for ever."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not self.over.wait(0.01):
            try:
                handler.wfile.write(b"x")
            except OSError:
                break
        handler.close_connection = True


@contextmanager
def listening(*answers: Answer) -> Iterator[Target]:
    """Have a target for a while."""
    target = Target(answers)
    try:
        yield target
    finally:
        target.close()
