"""An API server in a thread that serves KronJobs as prepared JSON, and an operator as a process beside it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

PROGRAM = (sys.executable, "-c", "from kron.entry_points import kron_operator_main; kron_operator_main()")


def kronjob(name: str, template: bytes, **spec: Any) -> bytes:
    """Return the JSON of a KronJob whose template has prepared JSON as its spec."""
    metadata = {"name": name, "namespace": "greedy", "uid": f"uid-{name}", "generation": 1, "resourceVersion": "7"}
    metadata["creationTimestamp"] = "2026-03-01T00:00:00Z"
    document = {"metadata": metadata, "spec": {"schedule": "0 0 1 1 *", "jobTemplate": "HOLE", **spec}}
    return json.dumps(document).encode().replace(b'"HOLE"', b'{"spec":' + template + b"}")


class ApiServer:
    """Serves a list of KronJobs in pages, watches that tell nothing, and refuses every write as of a thing gone."""

    def __init__(self, kronjobs: list[bytes]) -> None:
        self.kronjobs = kronjobs
        self.closed = Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    def page(self, path: str, query: dict[str, list[str]]) -> bytes:
        items = self.kronjobs if path.endswith("/kronjobs") else []
        first, limit = int(query.get("continue", ["0"])[0]), int(query["limit"][0])
        more = {"continue": str(first + limit)} if first + limit < len(items) else {}
        about = json.dumps({"resourceVersion": "9", **more}).encode()
        return b'{"metadata":' + about + b',"items":[' + b",".join(items[first : first + limit]) + b"]}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class PagedApiHandler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                where = urlsplit(self.path)
                query = parse_qs(where.query)
                if "watch" in query:
                    self.send_response(200)
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    api.closed.wait()
                else:
                    self.answer(200, api.page(where.path, query))

            def do_PATCH(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(404, b"{}")

            do_POST = do_PATCH  # noqa: N815  # the library calls it so

            def answer(self, code: int, body: bytes) -> None:
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return PagedApiHandler


class Operator:
    """A process that has seen everything, and what can be seen of it."""

    def __init__(self, process: "subprocess.Popen[str]", address: str, lines: list[str]) -> None:
        self.process, self.address, self.lines = process, address, lines

    def highest_memory(self) -> float:
        """Return the most MiB that it has had so far."""
        text = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        found = re.search(r"^VmHWM:\s+(\d+) kB$", text, re.MULTILINE)
        assert found is not None
        return int(found[1]) / 1024

    def number(self, name: str) -> float:
        """Return one of its metrics."""
        with closing(HTTPConnection(self.address, timeout=30)) as connection:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode("ascii").splitlines()
        (found,) = [line for line in lines if line.startswith(f"{name} ")]
        return float(found.rpartition(" ")[2])


@contextmanager
def operating(folder: Path, kronjobs: list[bytes]) -> Iterator[Operator]:
    """Have an operator that leads and has seen these KronJobs, as long as the block."""
    api = ApiServer(kronjobs)
    config = folder / "config"
    cluster = {"name": "c", "cluster": {"server": api.url}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    user = {"name": "u", "user": {"token": "t"}}
    given = {"current-context": "c", "contexts": [context], "clusters": [cluster], "users": [user]}
    config.write_text(json.dumps(given), "ascii")
    flags = ["--kubeconfig", str(config), "--listen", "127.0.0.1:0", "--leader-elect=false"]
    process = subprocess.Popen([*PROGRAM, "run", *flags], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line)
            if json.loads(line)["event"] == "leading":
                break
        yield Operator(process, json.loads(lines[0])["address"], lines)
    finally:
        process.kill()
        process.communicate()
        api.close()
