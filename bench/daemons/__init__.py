"""Load any daemon that starts processes, behind one interface."""

from importlib import import_module

from bench.daemons.daemon import Daemon

_HOMES = {
    "krond": "krond:Krond",
    "cronstable": "others:Cronstable",
    "debian-cron": "others:DebianCron",
    "goroutines": "others:Goroutines",
}


def load_daemon(name: str) -> Daemon:
    """Return the daemon by its name."""
    module, _, kind = _HOMES[name].partition(":")
    daemon: Daemon = getattr(import_module(f"bench.daemons.{module}"), kind)()
    return daemon
