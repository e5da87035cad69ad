"""python -m kron.hosts.krond.reader: which files to read on stdin, what stands in them on stdout; for krond alone."""

import gc
import os
import pickle
import signal
import sys
from contextlib import suppress

from kron._version import __version__
from kron.hosts.krond.reading import answer

_GONE = (BrokenPipeError, EOFError, pickle.UnpicklingError)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who interrupts means krond
    gc.disable()  # it does not live long
    with suppress(*_GONE):  # krond was killed: nobody wants to know any more
        pickle.dump(__version__, sys.stdout.buffer)  # who asks may be older than this file
        sys.stdout.flush()
        answer(pickle.load(sys.stdin.buffer), sys.stdout.buffer)
        sys.stdout.flush()
    os._exit(0)  # what could not be written is not tried again
