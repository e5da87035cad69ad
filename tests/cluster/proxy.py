"""Proxy: a proxy in front of the API server that can answer in its place."""

import ssl
from contextlib import closing, suppress
from http.client import HTTPException, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from tests.cluster.certificates import CERTIFICATE, KEY
from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.plane import ControlPlane

_ONE_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class Proxy:
    """Serve with the server's own certificate, so that clients trust it."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._failing = 0
        self.refused = 0  # how many it has answered itself
        self._open: set[HTTPSConnection] = set()
        self._upstream = ssl.create_default_context(cadata=plane.authority)
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(plane.folder / CERTIFICATE, plane.folder / KEY)
        self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    def kubeconfig(self, place: Path, token: str, namespace: str) -> Path:
        """Write a kubeconfig that leads here."""
        server = f"https://127.0.0.1:{self._server.server_address[1]}"
        return write_kubeconfig(place, server=server, authority=self._plane.authority, token=token, namespace=namespace)

    def fail(self, code: int) -> None:
        """Answer so from now on, and end what is under way; 0: let the server answer."""
        self._failing = code
        for connection in list(self._open) if code else ():
            with suppress(OSError, AttributeError):  # it may be about to end by itself
                connection.sock.shutdown(2)

    def close(self) -> None:
        """Stop answering."""
        self.fail(500)
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asker: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        body = asker.rfile.read(int(asker.headers.get("Content-Length") or 0))
        if self._failing:
            self.refused += 1
            asker.send_response(self._failing)
            for name, value in (("Retry-After", "1"), ("Content-Length", "0")):
                asker.send_header(name, value)
            asker.end_headers()
            return
        headers = {name: value for name, value in asker.headers.items() if name.lower() not in _ONE_HOP}
        connection = HTTPSConnection(urlsplit(self._plane.server).netloc, context=self._upstream, timeout=600)
        self._open.add(connection)
        with closing(connection):
            try:
                connection.request(asker.command, asker.path, body or None, headers)
                self._forward(connection, asker)
            except (OSError, HTTPException, ValueError, AttributeError):  # ended half-way
                asker.close_connection = True
            finally:
                self._open.discard(connection)

    def _forward(self, connection: HTTPSConnection, asker: BaseHTTPRequestHandler) -> None:
        found = connection.getresponse()
        asker.send_response(found.status)
        for name, value in found.getheaders():
            if name.lower() not in _ONE_HOP:
                asker.send_header(name, value)
        asker.send_header("Transfer-Encoding", "chunked")
        asker.end_headers()
        while data := found.read1(65536):
            asker.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            asker.wfile.flush()
        asker.wfile.write(b"0\r\n\r\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that has disconnected."""


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class ProxyHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:  # the library's name
            proxy.answer(self)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    return ProxyHandler
