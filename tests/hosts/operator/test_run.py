"""The command `kron-operator run`: wrong usage, and its output while it waits for a server."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests import forked
from tests.forked import Forked

CONFIG = """
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
"""


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {key: value for key, value in os.environ.items() if not key.startswith("KUBE")}
    return forked.run("kron-operator", "run", *words, environment={**known, **environment})


@contextmanager
def running(folder: Path, *words: str) -> Iterator[tuple[Forked, str]]:
    """Yield an operator whose server is down, and the address where it listens."""
    config = folder / "config"
    config.write_text(CONFIG, "utf-8")
    flags = ["--kubeconfig", str(config), "--listen", "127.0.0.1:0", *words]
    with Forked("kron-operator", "run", *flags, pipes="stdout stderr") as process:
        assert process.stderr is not None
        try:
            yield process, json.loads(process.stderr.readline())["address"]
        finally:
            process.kill()


def test_a_kubeconfig_that_is_not_there_is_one_clear_line_and_exit_2(tmp_path: Path) -> None:
    done = run("--kubeconfig", str(tmp_path / "none"), "--listen", "127.0.0.1:0")

    assert done.returncode == 2
    assert done.stderr.startswith("kron-operator: error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--retry-period", "20s"), "--retry-period < --renew-deadline < --lease-duration"),
        (("--slack", "soon"), "--slack"),
        (("--workers", "0"), "--workers"),
        (("--leader-elect", "perhaps"), "--leader-elect"),
        (("--namespace", "a", "--namespace", "B/c"), "'B/c' must be at most 63 lower-case letters"),
        (("--lease-namespace", ""), "--lease-namespace"),
        (("--lease-name", "A_b"), "'A_b' must be at most 253 lower-case letters"),
        (("--listen", "nowhere"), "must be HOST:PORT or unix:/path, found 'nowhere'"),
        (("--listen", "127.0.0.1:http"), "--listen"),
        (("--listen", "off"), "--listen"),
    ],
    ids=["periods", "duration", "workers", "election", "namespace", "lease", "lease name", "address", "port", "off"],
)
def test_wrong_usage_names_the_option_and_exits_with_2(words: tuple[str, ...], message: str) -> None:
    done = run(*words)

    assert done.returncode == 2
    assert message in done.stderr


def test_each_option_is_also_a_variable() -> None:
    done = run(KRON_OPERATOR_RETRY_PERIOD="20s")

    assert done.returncode == 2
    assert "--retry-period" in done.stderr


def test_an_address_that_is_taken_is_one_clear_line_and_exit_2() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("--listen", f"127.0.0.1:{taken.getsockname()[1]}")

    assert done.returncode == 2
    assert "Listener" in done.stderr


def test_without_a_server_it_is_well_and_not_ready_and_says_why(tmp_path: Path) -> None:
    with running(tmp_path) as (process, address):
        assert process.stderr is not None
        problem = json.loads(process.stderr.readline())
        assert problem["event"] == "problem"
        assert "https://127.0.0.1:1" in problem["error"]
        with urlopen(f"http://{address}/healthz", timeout=30) as answer:
            assert answer.status == 200
        with pytest.raises(HTTPError, match="503"):
            urlopen(f"http://{address}/readyz", timeout=30)
        with urlopen(f"http://{address}/metrics", timeout=30) as answer:
            assert b'kron_kronjobs{state="scheduled"} 0.0' in answer.read()


def test_other_paths_and_methods_are_refused(tmp_path: Path) -> None:
    with running(tmp_path) as (_, address):
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://{address}/secrets", timeout=30)
        with pytest.raises(HTTPError, match="405"):
            urlopen(f"http://{address}/metrics", data=b"x", timeout=30)


def test_the_operator_ends_by_sigterm_with_exit_code_0_and_an_empty_standard_output(tmp_path: Path) -> None:
    with running(tmp_path) as (process, _):
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate()

    assert process.returncode == 0
    assert out == ""
