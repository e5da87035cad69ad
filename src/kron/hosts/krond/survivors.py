"""recorded(unfinished, history, now) -> Recorded: by what the process runner finds runs again that have no end."""

import json
import os
import pwd
from collections.abc import Iterable

from kron.adapters.process_runner.execution import Recorded
from kron.adapters.process_runner.proc import since_boot
from kron.adapters.sqlite_ledger.job_history import JobHistory
from kron.engine.jobs.store import Unfinished
from kron.instant import Instant


def recorded(unfinished: Iterable[Unfinished], history: JobHistory, now: Instant) -> list[Recorded]:
    """Return by what each is recognised: its process, or else the user that it runs as, and when it was to begin."""
    found = []
    for each in unfinished:
        run_id, boot = each.attempt.run_id, each.attempt.boot
        if each.process is not None:
            found.append(Recorded(run_id, boot, each.process.pid, each.process.ticks))
        else:
            began = since_boot() - (now - each.attempt.started)
            found.append(Recorded(run_id, boot, uid=_uid(history.definition(each.attempt.definition)), began=began))
    return found


def _uid(definition: str | None) -> int | None:
    """Return the user id of a definition's processes; None if the host does not know that user (any more)."""
    command = json.loads(definition or "{}").get("command")
    user = command.get("user") if isinstance(command, dict) else None
    if user == "":
        return os.geteuid()
    try:
        return pwd.getpwnam(str(user)).pw_uid
    except KeyError:
        return None
