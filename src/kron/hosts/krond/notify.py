"""notify(text): a word to systemd, if it started this process and wants to hear it."""

import os
import socket
from contextlib import suppress
from threading import Thread

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
