"""main(): the entry point of the `kron` command."""

import sys


def main() -> None:
    """Run the command; where the command line's library is not installed, say how to get it."""
    try:
        from kron.hosts.cli.commands import kron
        from kron.hosts.console import run
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("kron: the command line needs one more package: pip install 'kron-scheduler[cli]'\n")
        sys.exit(2)
    run(kron, "kron")
