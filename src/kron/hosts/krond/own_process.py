"""krond's own process: notifications to systemd, and the memory that it keeps or returns to the system."""

import ctypes
import gc
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from kron.engine.gc_pause import gc_paused

_PATIENCE = 60.0  # seconds for a receiver whose queue is full; the kernel may queue as few as ten messages


def notify(text: str) -> None:
    """Send a state such as `READY=1`; without systemd nothing happens. It never blocks."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address[:1] not in ("/", "@"):
        return
    try:
        _send(address, text, 0.0)
    except BlockingIOError:  # the queue is full: a thread waits, which does not keep the process from ending
        Thread(target=_send_patiently, args=(address, text), name="kron notify", daemon=True).start()
    except OSError:
        pass


def _send_patiently(address: str, text: str) -> None:
    with suppress(OSError):
        _send(address, text, _PATIENCE)


def _send(address: str, text: str, seconds: float) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.settimeout(seconds)
        sender.connect(f"\0{address[1:]}" if address[0] == "@" else address)
        sender.send(text.encode())


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Exclude objects made inside from garbage collection: thousands of jobs would hold the loop for 0.1 s each time.

    For objects that are nearly all kept. Those dropped later are freed, too, unless they are in a reference cycle.
    """
    with gc_paused():
        yield
        gc.freeze()


def trim_memory() -> None:
    """Return unused memory to the system. It takes a while: call it in a thread."""
    with suppress(AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
