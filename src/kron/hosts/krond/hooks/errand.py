"""Errand: one thing to tell somebody, and how a command or an address is told it."""

import json
import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from kron.rules.command import Command
from kron.rules.files.host_job import Call, HostJob, Program
from kron.rules.history_row import HistoryRow

_VARIABLES = {
    "KRON_RUN_ID": "run_id",
    "KRON_JOB": "name",
    "KRON_IDENTITY": "identity",
    "KRON_PERIOD_ID": "period_id",
    "KRON_NOMINAL_TIME": "nominal_time",
    "KRON_CHOSEN_TIME": "chosen_time",
    "KRON_ATTEMPT": "attempt",
    "KRON_OUTCOME": "outcome",
    "KRON_RESULT": "result",
    "KRON_REASON": "reason",
    "KRON_EXIT_CODE": "exit_code",
}


@dataclass(frozen=True, slots=True)
class Ping:
    """A sign of life: GET of an address, or of one below it."""

    url: str
    below: str = ""  # `start`, `fail`, or nothing

    def address(self) -> str:
        """Return what to get."""
        if not self.below:
            return self.url
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{self.below}"))


@dataclass(frozen=True, slots=True)
class Errand:
    """Of which job, what happened, whom to tell, and the row of its history."""

    job: HostJob
    event: str  # failure, recovery, missed, late or ping
    to: Call | Program | Ping
    row: HistoryRow

    @property
    def key(self) -> tuple[str, object]:
        """What has the same is told one after the other: a job's `start` never overtakes its end."""
        return self.job.identity, self.to.url if isinstance(self.to, Ping) else self.to

    @property
    def target(self) -> str:
        """Whom it goes to, as an event may say it: of an address its host, since the rest is often secret."""
        match self.to:
            case Program((_, "-c", text)):  # of a shell: the program that its text begins with
                return next((word for word in text.split() if "=" not in word), text)
            case Program(argv):
                return argv[0]
            case Call(url) | Ping(url):
                return re.split("[/?#]", url.partition("//")[2])[0].rpartition("@")[2]

    def body(self) -> str:
        """Return the row as JSON, in ASCII: names of files may hold bytes that are no text."""
        return json.dumps(self.row)

    def command(self, argv: tuple[str, ...]) -> Command:
        """Return the command of a hook: in the surroundings of its job, the row on its standard input."""
        return replace(self.job.command, argv=argv, stdin=self.body(), stdout="discard", stderr="discard")

    def variables(self) -> tuple[tuple[str, str], ...]:
        """Return what the command of a hook finds in its environment."""
        found = {name: self.row.get(field) for name, field in _VARIABLES.items()}
        return (("KRON_EVENT", self.event), *((name, "" if it is None else str(it)) for name, it in found.items()))
