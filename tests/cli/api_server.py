"""ApiServer: an API server on loopback that serves documents and records its requests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.cli.kron_runner import CommandResult, kron

KRONJOBS = "/apis/kron.io/v1alpha1"
JOBS = "/apis/batch/v1"


class ApiServer:
    """Answers by its table of paths; a list of answers is given in turn, and the last one for ever."""

    def __init__(self, folder: Path) -> None:
        self.answers: dict[str, list[tuple[int, Any]]] = {}
        self.asked: list[tuple[str, str, dict[str, str]]] = []  # method, path, query
        self._kubeconfig = folder / "kubeconfig"

    def holds(self, *kronjobs: dict[str, Any], jobs: tuple[dict[str, Any], ...] = ()) -> "ApiServer":
        """Let it have these KronJobs, and these Jobs in each of their namespaces."""
        self.says(f"{KRONJOBS}/kronjobs", listed(*kronjobs))
        for each in kronjobs:
            namespace, name = each["metadata"]["namespace"], each["metadata"]["name"]
            own = [other for other in kronjobs if other["metadata"]["namespace"] == namespace]
            self.says(f"{KRONJOBS}/namespaces/{namespace}/kronjobs", listed(*own))
            self.says(f"{KRONJOBS}/namespaces/{namespace}/kronjobs/{name}", each)
            self.says(f"{JOBS}/namespaces/{namespace}/jobs", listed(*jobs))
        return self

    def says(self, path: str, *documents: Any, code: int = 200) -> None:
        """Let it answer so when a path is asked for."""
        self.answers[path] = [(code, document) for document in documents]

    def answer(self, method: str, target: str) -> tuple[int, Any]:
        """Return what it says to a request."""
        path = urlsplit(target).path
        self.asked.append((method, path, dict(parse_qsl(urlsplit(target).query))))
        found = self.answers.get(path)
        if found is None:
            name, known = path.rpartition("/")[2], f"{KRONJOBS}/kronjobs" in self.answers
            return (
                (404, status(404, f'kronjobs.kron.io "{name}" not found')) if known else (404, "404 page not found\n")
            )
        return found.pop(0) if len(found) > 1 else found[0]

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve as long as the block."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.reached_at(f"http://127.0.0.1:{server.server_port}")
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def reached_at(self, url: str) -> None:
        """Write a kubeconfig whose cluster is there."""
        given = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "it", "cluster": {"server": url}}],
            "users": [{"name": "me", "user": {"token": "secret"}}],
            "contexts": [
                {"name": "here", "context": {"cluster": "it", "user": "me", "namespace": "prod"}},
                {"name": "there", "context": {"cluster": "it", "user": "me", "namespace": "other"}},
            ],
        }
        self._kubeconfig.write_text(json.dumps(given), "utf-8")

    def kron(self, *arguments: str) -> CommandResult:
        """Run `kron k8s` against it."""
        return kron("k8s", *arguments, "--kubeconfig", str(self._kubeconfig))


def listed(*items: dict[str, Any], more: str = "") -> dict[str, Any]:
    """Return a list as the server gives it, or a page of one."""
    return {"kind": "List", "metadata": {"continue": more} if more else {}, "items": [*items]}


def status(code: int, message: str) -> dict[str, Any]:
    """Return how the server says no."""
    return {"kind": "Status", "status": "Failure", "code": code, "reason": "Because", "message": message}


def _handler(api: ApiServer) -> type[BaseHTTPRequestHandler]:
    class ApiServerHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, document = api.answer(self.command, self.path)
            body = document if isinstance(document, str) else json.dumps(document)
            self.send_response(code)
            self.send_header("Content-Type", "text/plain" if isinstance(document, str) else "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            pass

    return ApiServerHandler
