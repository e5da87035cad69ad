"""Tests of TLS: trusted authorities and client certificates, over real connections."""

import asyncio
import base64
import gc
import json
import socket
import ssl
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.kubernetes.client import JOBS
from kron.adapters.kubernetes.kubeconfig import read_kubeconfig
from kron.errors import ApiUnreachableError, KubeconfigError
from tests.adapters.kubernetes.certificates import KeyPair, authority, encrypted, signed
from tests.adapters.kubernetes.scripted_server import asking, live, say, serving, stream, thing
from tests.adapters.kubernetes.test_kubeconfig import config


class Keys:
    """Pairs of an authority that the server trusts, and of one that it does not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ours, self.other = authority(folder, "ours"), authority(folder, "other")
        self.server, self.client = signed(folder, "server", self.ours), signed(folder, "client", self.ours)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


def ask(
    keys: Keys, *, cluster: dict[str, Any], user: dict[str, Any] | None = None, wants: KeyPair | None = None,
    has: KeyPair | None = None,
) -> str:  # fmt: skip
    """Return "answered", or why not, of a server that has a certificate and may want one."""

    async def play() -> str:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(*(has or keys.server))
        if wants is not None:
            tls.load_verify_locations(wants.certificate)
            tls.verify_mode = ssl.CERT_REQUIRED
        async with serving(say(thing("mail")), ssl=tls) as server:
            file = keys.folder / "config"
            file.write_text(config(user, {"server": server.url, **cluster}))
            async with asking(read_kubeconfig([file], None)) as api:
                try:
                    await api.request("get", JOBS, "ns", "a")
                except ApiUnreachableError as error:
                    return error.message
        return "answered"

    return live(play())


def data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def test_a_server_that_our_authority_vouches_for_is_asked(keys: Keys) -> None:
    assert ask(keys, cluster={"certificate-authority": "ours.crt"}) == "answered"


def test_a_server_with_an_untrusted_certificate_gets_no_request(keys: Keys) -> None:
    assert "certificate verify failed" in ask(keys, cluster={"certificate-authority": "other.crt"})


def test_a_server_is_asked_unseen_if_the_user_says_so(keys: Keys) -> None:
    assert ask(keys, cluster={"insecure-skip-tls-verify": True}) == "answered"


def test_a_server_may_be_known_by_another_name(keys: Keys) -> None:
    cluster = {"certificate-authority": "ours.crt"}
    has = signed(keys.folder, "named", keys.ours, whose="DNS:kubernetes")

    assert ask(keys, cluster=cluster | {"tls-server-name": "kubernetes"}, has=has) == "answered"
    assert "certificate verify failed" in ask(keys, cluster=cluster, has=has)


def test_a_certificate_says_who_we_are(keys: Keys) -> None:
    cluster = {"certificate-authority": "ours.crt"}
    files = {"client-certificate": "client.crt", "client-key": "client.key"}
    texts = {"client-certificate-data": data(keys.client.certificate), "client-key-data": data(keys.client.key)}

    assert ask(keys, cluster=cluster, user=files, wants=keys.ours) == "answered"
    assert ask(keys, cluster=cluster, user=texts, wants=keys.ours) == "answered"
    assert ask(keys, cluster=cluster, wants=keys.ours) != "answered"


def test_a_program_may_provide_a_certificate(keys: Keys) -> None:
    status = {
        "clientCertificateData": keys.client.certificate.read_text(), "clientKeyData": keys.client.key.read_text(),
    }  # fmt: skip
    code = f"print({json.dumps(json.dumps({'status': status}))})"
    user = {"exec": {"command": sys.executable, "args": ["-c", code]}}

    assert ask(keys, cluster={"certificate-authority": "ours.crt"}, user=user, wants=keys.ours) == "answered"


def test_an_encrypted_key_is_an_error_without_a_prompt(keys: Keys) -> None:
    key = encrypted(keys.folder, keys.client)
    user = {"client-certificate": "client.crt", "client-key": key.name}

    with pytest.raises(KubeconfigError, match="client-certificate: cannot be used: the key is encrypted"):
        ask(keys, cluster={"certificate-authority": "ours.crt"}, user=user)


async def test_nothing_is_left_of_a_closed_session_whatever_was_under_way(keys: Keys) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(*keys.server)
    async with serving(stream(("ADDED", thing("a")), end="silent"), ssl=tls) as server:
        file = keys.folder / "config"
        file.write_text(config(None, {"server": server.url, "certificate-authority": "ours.crt"}))
        async with asking(read_kubeconfig([file], None)) as api:
            async with aclosing(api.watch(JOBS, "ns", "1")) as events:
                await anext(events)
            request = asyncio.create_task(api.request("get", JOBS, "ns", "a"))
            await server.idle.wait()
            assert len(connected(server.url)) == 1
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)
        found = connected(server.url)

    assert found == []


def connected(url: str) -> list[object]:
    """Return our sockets whose other end is there."""
    found = [each for each in gc.get_objects() if isinstance(each, socket.socket) and each.fileno() >= 0]
    return [each for each in found if str(each).endswith(f"raddr=('127.0.0.1', {url.rpartition(':')[2]})>")]
