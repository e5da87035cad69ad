"""main(): the entry point of the `kron` command."""

import io
import os
import sys


def main() -> None:
    """Run the command; where the command line's library is not installed, say how to get it."""
    try:
        from kron.hosts.cli.commands import kron
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("kron: the command line needs one more package: pip install 'kron-scheduler[cli]'\n")
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character shows its number
            stream.reconfigure(errors="backslashreplace")
    try:
        kron.main(prog_name="kron")
    except OSError as error:  # standard output is full or gone; a closed pipe is handled before
        sys.stderr.write(f"kron: error: cannot read or write: {error.strerror}\n")
        os._exit(2)  # what is still in the buffer cannot be written either
