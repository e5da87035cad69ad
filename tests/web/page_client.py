"""PageClient: a client with the token that asks a real krond for pages."""

import http.client
import re
from html import unescape
from typing import NamedTuple
from urllib.parse import urlencode

from tests.hosts.krond.krond_process import Krond


class Page(NamedTuple):
    """What was answered."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def words(self) -> str:
        """What a person reads: no tags, blanks as one."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.body)).split())

    def field(self, name: str) -> str:
        """Return what a hidden field of its form holds."""
        found = re.search(f'name="{name}" value="([^"]*)"', self.body)
        assert found is not None, self.body
        return unescape(found[1])


class PageClient:
    """Asks with the token."""

    def __init__(self, krond: Krond) -> None:
        listening = next(event for event in krond.events[::-1] if event["event"] == "Listening")
        self.address = str(listening["address"]).split("/")[2]
        self.token = (krond.state / "token").read_text().strip()

    def get(self, path: str) -> Page:
        """Return a page."""
        return self.ask("GET", path)

    def post(self, path: str, **fields: str) -> Page:
        """Send a form."""
        return self.ask("POST", path, urlencode(fields))

    def ask(self, method: str, path: str, body: str | None = None) -> Page:
        """Return what is answered to a request."""
        connection = http.client.HTTPConnection(self.address)
        connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        page = Page(answer.status, headers, answer.read().decode())
        connection.close()
        return page
