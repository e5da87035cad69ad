"""main(): the entry point of the `krond` command."""

import os
import signal
import sys

HELD = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Run the command; where the command line's library is not installed, say how to get it."""
    _open_what_is_closed()
    if sys.argv[1:2] == ["run"]:  # who asks it to stop, or to reload, while it loads is heard when it can listen
        signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        from kron.hosts.console import run
        from kron.hosts.krond.commands import krond
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("krond: the daemon needs a few more packages: pip install 'kron-scheduler[krond]'\n")
        sys.exit(2)
    run(krond, "krond")


def _open_what_is_closed() -> None:
    """Have three standard streams: where one is closed, the next file that is opened would be taken for it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(descriptor, True)  # noqa: FBT003  # it has no name
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))
