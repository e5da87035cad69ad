"""Errors of hosts whose jobs have periods."""

from kron.errors.tree import KronError, shown


class JobActiveError(KronError):
    """A run was asked for while one is active, and the job forbids a second one."""

    def __init__(self, *, identity: str) -> None:
        super().__init__(f"{shown(identity)} is active, and its concurrency is forbid", identity=identity)


class StateDirectoryError(KronError):
    """A state directory cannot be used."""

    def __init__(self, *, path: str, reason: str, fix: str = "") -> None:
        tail = f"; {fix}" if fix else ""
        super().__init__(f"State directory {shown(path)} {reason}{tail}", path=path, reason=reason, fix=fix)


class UnknownJobError(KronError):
    """Nobody knows a job of that name, or several are meant."""

    def __init__(self, *, job: str, identities: tuple[str, ...] = (), errors: tuple[str, ...] = ()) -> None:
        tail = f"; it may be {', '.join(map(shown, identities))}" if identities else ""
        if errors:
            tail = f" that krond runs, and may be in a file that failed: {'; '.join(errors)}"
        reason = "is the name of several jobs" if identities else "is not a job"
        super().__init__(f"{shown(job)} {reason}{tail}", job=job, identities=list(identities), errors=list(errors))


class UnknownRunError(KronError):
    """Nobody knows a run of that name, nor a job."""

    def __init__(self, *, run: str) -> None:
        super().__init__(f"{shown(run)} is neither a job nor a run", run=run)


class NoRunError(KronError):
    """A run of a job was asked for, and it has none."""

    def __init__(self, *, job: str) -> None:
        super().__init__(f"{shown(job)} has no run yet, or none that is still remembered", job=job)


class ControlError(KronError):
    """The daemon does not answer, or says no."""

    def __init__(self, *, reason: str, exit_code: int = 1) -> None:
        super().__init__(reason, reason=reason)
        self.exit_code = exit_code


class ListenError(KronError):
    """A daemon cannot listen where it was told to."""

    def __init__(self, *, address: str, reason: str, fix: str = "") -> None:
        tail = f"; {fix}" if fix else ""
        super().__init__(f"Listener {shown(address)}: {reason}{tail}", address=address, reason=reason, fix=fix)


class AddressInUseError(ListenError):
    """Another program has the address of a daemon's listener; it may release it later."""
