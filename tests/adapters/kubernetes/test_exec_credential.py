"""Tests of credential plugins: when the program is called, and how its errors are reported."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.kubernetes.client import JOBS
from kron.adapters.kubernetes.credentials import CredentialError, ExecConfig, ExecCredential, RequestAuth
from kron.adapters.kubernetes.kubeconfig import read_kubeconfig
from kron.errors import ApiUnreachableError
from tests.adapters.kubernetes.scripted_server import asking, live
from tests.adapters.kubernetes.test_kubeconfig import config

COUNTING = """
import json, os, sys
from pathlib import Path
count = Path(sys.argv[1])
count.write_text(str(int(count.read_text()) + 1) if count.exists() else "1")
status = {"token": f"token {count.read_text()} {os.environ.get('WHO', '')}".strip()}
if len(sys.argv) > 2:
    status["expirationTimestamp"] = sys.argv[2]
print(json.dumps({"kind": "ExecCredential", "status": status}))
"""
NOON = 1772366400.0  # 2026-03-01T12:00:00Z


class Clock:
    """A clock that only the test moves."""

    now = NOON

    def __call__(self) -> float:
        return self.now


def plugin(code: str, *words: str, clock: Clock | None = None, patience: float = 60.0) -> ExecCredential:
    """Return a plugin whose program is written in Python."""
    command = ExecConfig((sys.executable, "-c", code, *words), (("WHO", "me"),), "client.authentication.k8s.io/v1")
    return ExecCredential(command, lambda _certificate, _key: None, wall=clock or Clock(), patience=patience)


def test_a_program_prints_the_token_and_gets_the_environment_of_the_kubeconfig(tmp_path: Path) -> None:
    assert live(plugin(COUNTING, str(tmp_path / "n")).authenticate()) == RequestAuth("Bearer token 1 me", None)


async def test_a_program_is_asked_once_for_all_who_wait(tmp_path: Path) -> None:
    made = plugin(COUNTING, str(tmp_path / "n"))

    assert set(await asyncio.gather(*[made.authenticate() for _ in range(5)])) == {
        RequestAuth("Bearer token 1 me", None)
    }


async def test_a_token_that_expires_soon_is_requested_again(tmp_path: Path) -> None:
    clock = Clock()
    made = plugin(COUNTING, str(tmp_path / "n"), "2026-03-01T12:01:00Z", clock=clock)
    found = [await made.authenticate()]
    for seconds in (29, 31):
        clock.now = NOON + seconds
        found.append(await made.authenticate())

    assert [proof.authorization for proof in found] == ["Bearer token 1 me", "Bearer token 1 me", "Bearer token 2 me"]


async def test_a_rejected_token_is_requested_again(tmp_path: Path) -> None:
    made = plugin(COUNTING, str(tmp_path / "n"))
    await made.authenticate()
    made.invalidate()

    assert (await made.authenticate()).authorization == "Bearer token 2 me"


WRONG = {
    "failing": ("import sys; sys.exit('no login')", "exit code 1: no login"),
    "silent": ("", "its answer is no ExecCredential"),
    "other JSON": ("print('[1]')", "its answer is no ExecCredential"),
    "without a proof": ("print('{\"status\": {}}')", "neither a token nor a certificate"),
    "with a wrong time": (
        'print(\'{"status": {"token": "a", "expirationTimestamp": "soon"}}\')', "its answer is no ExecCredential",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_program_without_a_valid_answer_is_an_error_that_says_why(code: str, message: str) -> None:
    with pytest.raises(CredentialError, match=f"^credential plugin {sys.executable}: .*{message}"):
        live(plugin(code).authenticate())


def test_a_program_that_takes_too_long_is_ended() -> None:
    with pytest.raises(CredentialError, match=r"no answer within 0\.05 s"):
        live(plugin("import time; time.sleep(100)", patience=0.05).authenticate())


async def test_a_program_that_is_missing_is_an_answer_that_does_not_come(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(config({"exec": {"command": "./missing", "apiVersion": "x"}}))
    access = read_kubeconfig([file], None)
    async with asking("http://127.0.0.1:1", access.credential) as api:
        with pytest.raises(ApiUnreachableError) as caught:
            await api.request("get", JOBS, "ns", "a")
        found = caught.value.message

    assert str(tmp_path / "missing") in found


def test_a_program_gets_the_cluster_if_the_kubeconfig_says_so(tmp_path: Path) -> None:
    def exec_info(more: dict[str, Any]) -> Any:
        code = "import json, os; print(json.dumps({'status': {'token': os.environ['KUBERNETES_EXEC_INFO']}}))"
        file = tmp_path / "config"
        file.write_text(config({"exec": {"command": sys.executable, "args": ["-c", code], "apiVersion": "v", **more}}))
        text = live(read_kubeconfig([file], None).credential.authenticate()).authorization
        assert text is not None
        return json.loads(text.removeprefix("Bearer "))

    assert exec_info({}) == {"apiVersion": "v", "kind": "ExecCredential", "spec": {"interactive": False}}
    assert exec_info({"provideClusterInfo": True})["spec"] == {
        "interactive": False, "cluster": {"server": "http://k"},
    }  # fmt: skip
