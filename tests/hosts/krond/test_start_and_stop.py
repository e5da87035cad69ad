"""The start and stop of krond: its messages about files, early signals, and the end of the process."""

import json
import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.hosts.krond.krond_process import NEVER, Krond

HELLO = f"[jobs.hello]\n{NEVER}\ncommand = ['true']\n"


@pytest.mark.parametrize(
    ("jobs", "line"),
    [
        ('[jobs.bad]\nschedule = "* * * *"\ncommand = "true"\n[krond]\non_invalid = "refuse"\n', 2),
        (f'{HELLO}[krond]\nslack = "soon"\n', 5),
        (f"{HELLO}[krond\n", 4),
    ],
    ids=["a bad file if the settings say so", "a bad setting", "settings that are no TOML"],
)
def test_krond_refuses_to_start_with(tmp_path: Path, jobs: str, line: int) -> None:
    krond = Krond(tmp_path, jobs)

    found = krond.ask("run", "--config", str(krond.file))

    assert found.returncode == 2
    assert f"{krond.file}:{line}: error:" in found.stderr
    assert not krond.state.exists()


def test_a_reload_that_is_asked_for_while_krond_starts_comes_when_it_is_ready(tmp_path: Path) -> None:
    hung_up = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP]); "
    hung_up += "os.kill(os.getpid(), signal.SIGHUP); os.execv(sys.argv[1], sys.argv[1:])"
    krond = Krond(tmp_path, HELLO, before=(sys.executable, "-c", hung_up)).start()

    krond.ask("reload")
    krond.signal(signal.SIGTERM)

    assert krond.process is not None
    assert krond.process.stderr is not None
    said = krond.process.stderr.read()
    assert said.count('"Reloaded"') == 2
    assert json.loads(said.splitlines()[-1])["event"] == "KrondStopped"
    assert krond.end() == 0


def test_a_stop_that_is_asked_for_while_krond_loads_is_heeded(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'kron.hosts.krond.commands.run':\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Finder())\n",
        "utf-8",
    )
    krond = Krond(tmp_path, HELLO, environment={"PYTHONPATH": str(tmp_path)})

    krond.begin()

    assert krond.wait_for("KrondDraining")["active"] == 0
    assert krond.end() == 0


def test_stop_returns_when_krond_has_gone_also_if_a_visitor_hangs(tmp_path: Path) -> None:
    krond = Krond(tmp_path, f'[krond]\nlisten = "unix:{tmp_path}/web"\n').start()
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.connect(f"{tmp_path}/web")
        visitor.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        visitor.recv(1)
        krond.ask("stop")

        assert krond.process is not None
        assert krond.process.poll() == 0
    krond.end()


def test_an_empty_address_is_wrong_usage(tmp_path: Path) -> None:
    krond = Krond(tmp_path, "")
    found = krond.ask("run", "--config", str(krond.file), "--listen", "")

    assert found.returncode == 2
    assert "listen" in found.stderr
    assert not krond.state.exists()


DOUBTFUL = f"[jobs.a]\n{NEVER}\ncommand = '/does/not/exist'\n"


def test_warnings_of_valid_files_are_events_so_that_every_line_is_one(tmp_path: Path) -> None:
    krond = Krond(tmp_path, DOUBTFUL)
    process = krond.begin()
    assert process.stderr is not None
    first = json.loads(process.stderr.readline())
    krond.wait_for("KrondReady")
    krond.ask("stop")
    krond.end()

    assert (first["event"], first["level"]) == ("WarningFound", "WARNING")
    assert (first["file"], first["line"], first["field"]) == (str(krond.file), 3, "jobs.a.command")


def test_a_setting_that_needs_a_restart_is_refused_at_its_line_or_where_it_was(tmp_path: Path) -> None:
    krond = Krond(tmp_path, f'[krond]\nlisten = "unix:{tmp_path}/web"\n').start()
    krond.write(f'[krond]\nslack = "1s"\nlisten = "unix:{tmp_path}/other"\n')
    changed = krond.ask("reload").stderr
    krond.write("")
    removed = krond.ask("reload").stderr
    krond.ask("stop")
    krond.end()

    assert changed.startswith(f"{krond.file}:3: error: krond.listen: was changed, which needs a restart; ")
    assert removed.startswith(f"{krond.file}:2: error: krond.listen: was changed")
