"""notify(text): a word to systemd, if it started this process and wants to hear it."""

import os
import socket
from contextlib import suppress


def notify(text: str) -> None:
    """Send a state such as `READY=1`; without systemd nothing happens."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address[:1] not in ("/", "@"):
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.connect(f"\0{address[1:]}" if address[0] == "@" else address)
        sender.sendall(text.encode())
