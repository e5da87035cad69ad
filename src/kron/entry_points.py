"""The programs kron, krond and kron-operator: each runs its commands, or says what to install."""

import os
import signal
import sys


def kron_main() -> None:
    """Run the command; where the command line's library is not installed, say how to get it."""
    try:
        from kron.cli.commands import kron
        from kron.console.program import run_program
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("kron: the command line needs one more package: pip install 'kron-scheduler[cli]'\n")
        sys.exit(2)
    run_program(kron, "kron")


def krond_main() -> None:
    """Run the command; where the command line's library is not installed, say how to get it."""
    _open_what_is_closed()
    from kron.hosts.krond import HELD_SIGNALS

    if sys.argv[1:2] == ["run"]:  # who asks it to stop, or to reload, while it loads is heard when it can listen
        signal.pthread_sigmask(signal.SIG_BLOCK, HELD_SIGNALS)
    try:
        from kron.console.program import run_program
        from kron.hosts.krond.commands.group import krond
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("krond: the daemon needs a few more packages: pip install 'kron-scheduler[krond]'\n")
        sys.exit(2)
    run_program(krond, "krond")


def _open_what_is_closed() -> None:
    """Have three standard streams: where one is closed, the next file that is opened would be taken for it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(descriptor, True)  # noqa: FBT003  # it has no name
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))


_NEEDED = ("aiohttp", "click", "prometheus_client", "starlette", "uvicorn", "yaml", "yarl")


def kron_operator_main() -> None:
    """Run the command; where its libraries are not installed, say how to get them."""
    try:
        from kron.console.program import run_program
        from kron.hosts.operator.commands import operator
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        text = "kron-operator: the operator needs a few more packages: pip install 'kron-scheduler[operator]'\n"
        sys.stderr.write(text)
        sys.exit(2)
    run_program(operator, "kron-operator")
