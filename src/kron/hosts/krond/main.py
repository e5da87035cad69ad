"""main(): the entry point of the `krond` command."""

import signal
import sys

HELD = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Run the command; where the command line's library is not installed, say how to get it."""
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
