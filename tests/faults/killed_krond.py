"""KilledKrond: a krond that is killed at random instants, and the checks of its ledger."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from kron.errors import ControlError
from kron.hosts.krond.control_client import ControlClient
from tests.faults.fake_clock import FakeClock
from tests.faults.judge import judge
from tests.faults.recording_jobs import RECORDING_JOBS, living, words
from tests.hosts.krond.krond_process import Krond

_STILLBORN = 0.3  # of them are killed before they are ready, or about to be
_BIRTH, _LIFE = 1.0, 0.7  # seconds until then, and from then on, at most
_PAUSES = [timedelta(seconds=seconds) for seconds in (0, 0, 0, 1, 20, 70, 130, 900)]  # between two lives
_HELD = "quick-0"  # is suspended now and then
_SETTLING = timedelta(seconds=5)  # a period whose time came so shortly before the end may not be handled yet
_MOST = "1000000"


class Life:
    """One krond: a process, and a thread that writes down what it says."""

    def __init__(self, krond: Krond, log: Path) -> None:
        self.process = krond.begin()
        self.ready_or_dead = threading.Event()
        # The keepers of surviving children hold the pipe, too: it may end long after the process.
        threading.Thread(target=self._listen, args=[log], daemon=True).start()

    def _listen(self, log: Path) -> None:
        assert self.process.stderr is not None
        with log.open("a", 1, "utf-8") as file, self.process.stderr as said:
            for line in said:
                file.write(line)
                if "KrondReady" in line:
                    self.ready_or_dead.set()
        self.ready_or_dead.set()

    def die_in(self, seconds: float) -> None:
        """Kill it after a while, whatever it does then."""
        threading.Timer(seconds, self.process.kill).start()


class KilledKrond:
    """One state directory and all who had it; `complaints` is what is wrong so far."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._chance = Random(seed)
        self._clock = FakeClock(folder)
        self._diary, self._log = folder / "diary", folder / "log"
        self._krond = Krond(folder, "", environment=self._clock.environment)
        self._write()
        self.survivors: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.complaints: list[str] = []
        self._born = self._clock.now()
        self._before: dict[str, int] = {}
        self._stop(self._begin())  # the jobs are declared

    def _write(self) -> None:
        note = str(self._chance.random())  # another definition, with the same times
        self._krond.write("".join(each.table(self._diary, note) for each in RECORDING_JOBS))

    # --- lives --------------------------------------------------------------------------------------------------------

    def live(self) -> None:
        """Live a life that ends by SIGKILL, and then be gone for a while."""
        life = self._begin()
        if self._chance.random() < _STILLBORN:
            life.die_in(self._chance.uniform(0, _BIRTH))
        try:
            with self._meet(life) as client:
                life.die_in(self._chance.uniform(0, _LIFE))
                self._ask(client)
        except ControlError:
            self.counts["unanswered requests"] += 1
        life.process.wait()
        self.counts["kills"] += 1
        self._clock.move(self._chance.choice(_PAUSES))

    def settle(self) -> None:
        """Live a last life, until all is handled, and stop."""
        life = self._begin()
        with self._meet(life) as client:
            client.ask("resume", jobs=[_HELD])
            self._ended = self._clock.now()
            client.ask("wait", run_id=client.ask("trigger", job="many-0"))  # by then all that was due is judged
        self._stop(life)

    def _stop(self, life: "Life") -> None:
        with self._meet(life) as client:
            client.ask("stop")
        if life.process.wait() != 0:
            self.complaints.append(f"asked to stop it ended with {life.process.returncode}")

    def _begin(self) -> "Life":
        self._before = living(self._krond.file)
        return Life(self._krond, self._log)

    @contextmanager
    def _meet(self, life: "Life") -> Iterator[ControlClient]:
        """Have a connection to it as soon as it is ready; ControlError if it dies before."""
        life.ready_or_dead.wait()
        with closing(ControlClient(self._krond.state / "control.sock")) as client:
            self._recognise(self._before, client.ask("status"))
            yield client

    def _recognise(self, before: dict[str, int], status: dict[str, Any]) -> None:
        known = {run["run_id"]: run["pid"] for run in status["active"]}
        after = living(self._krond.file)
        for run_id, pid in before.items():
            if run_id in after and run_id not in known:
                self.complaints.append(f"{run_id} lives as process {pid}, and is forgotten")
            elif run_id in known:
                self.survivors.add(run_id)
                if known[run_id] != pid:
                    self.complaints.append(f"{run_id} lives as process {pid}, not {known[run_id]}")
        self.counts["lives that were ready"] += 1

    def _ask(self, client: ControlClient) -> None:
        """Ask for something that is not due anyway."""
        match self._chance.randrange(4):
            case 0:
                client.ask("trigger", job=self._chance.choice(RECORDING_JOBS).name)
            case 1:
                client.ask(self._chance.choice(["suspend", "resume"]), jobs=[_HELD])
            case 2:
                self._write()
                client.ask("reload")

    # --- the judgement ------------------------------------------------------------------------------------------------

    def judge(self) -> list[str]:
        """Return everything that is wrong."""
        rows = json.loads(self._krond.ask("history", "--json", "--limit", _MOST).stdout)
        said = words(self._diary)
        self.counts["children"] = sum(word.what == "begin" for word in said)
        self.counts["survivors"] = len(self.survivors)
        for row in rows:
            self.counts[row["outcome"]] += row.get("count", 1)
        self.complaints += [
            *self._logged_errors(),
            *judge(rows, said, RECORDING_JOBS, (self._born, self._ended - _SETTLING)),
        ]
        self.complaints += [f"{run_id} was left behind" for run_id in living(self._krond.file)]
        for row in rows:
            if row["run_id"] in self.survivors and row["result"] != "unknown":
                self.complaints.append(f"{row['run_id']} is recorded as {row['result']}, which krond cannot know")
        return self.complaints

    def _logged_errors(self) -> Iterator[str]:
        """What it said itself, and what checks its ledger."""
        for line in self._log.read_text("utf-8").splitlines():
            if not line.startswith("{") or json.loads(line)["level"] == "ERROR":
                yield f"it said {line}"
        checked = self._krond.ask("ledger", "check")
        if checked.returncode:
            yield checked.stdout + checked.stderr

    def summary(self) -> str:
        """Return what happened, in a line."""
        return ", ".join(f"{name}: {number}" for name, number in sorted(self.counts.items()))
