"""read_inventory(path) -> the hosts of a fleet, and the files that each of them has.

A line is `HOST [GLOB...]`. Globs are relative to the directory of the inventory; a host without any has the files that
the command names. `#` begins a comment.
"""

from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import NamedTuple

import click

from kron.errors import printable, shown
from kron.hosts.console import print_findings
from kron.rules.finding import Finding


class InventoryHost(NamedTuple):
    """A host, its globs, and the line that names it."""

    name: str
    globs: tuple[str, ...]
    line: int


class Inventory(NamedTuple):
    """The hosts of a file, in its order."""

    path: Path
    hosts: tuple[InventoryHost, ...]

    def files(self, host: InventoryHost, folder: Path | None = None) -> list[str]:
        """Return the files and directories that the globs of a host match, each once; `folder` is not the usual one."""
        base = self.path.parent if folder is None else folder
        found = [match for pattern in host.globs for match in _matches(base, pattern)]
        return list(dict.fromkeys(found))

    def check_globs(self, folders: Sequence[Path] = ()) -> None:
        """Print the globs that match nothing in any of the folders, and end if there are some."""
        places = folders or [self.path.parent]
        _end_if_wrong(
            [
                self._finding("glob", f'matches nothing, found "{shown(pattern)}"', "check its path", host.line)
                for host in self.hosts
                for pattern in host.globs
                if not any(_matches(place, pattern) for place in places)
            ]
        )

    def _finding(self, field: str, message: str, fix: str, line: int) -> Finding:
        return Finding("error", field, message, fix, str(self.path), line)


def read_inventory(path: Path) -> Inventory:
    """Return the hosts of an inventory; if it cannot be used, print why and end."""
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{path}: is not UTF-8 at byte {error.start}") from error
    hosts: dict[str, InventoryHost] = {}
    wrong: list[Finding] = []
    for number, line in enumerate(text.splitlines(), 1):
        name, *globs = _words(line) or [""]
        if name in hosts:
            message = f'"{printable(name)}" is already the host of line {hosts[name].line}'
            wrong.append(Finding("error", "host", message, "name each host once", str(path), number))
        elif name:
            hosts[name] = InventoryHost(name, tuple(globs), number)
    if not hosts:
        wrong.append(Finding("error", "host", "names no host", "write a line HOST [GLOB...]", str(path), 1))
    _end_if_wrong(wrong)
    return Inventory(path, tuple(hosts.values()))


def _words(line: str) -> list[str]:
    words = line.split()
    comment = next((place for place, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:comment]


def _matches(folder: Path, pattern: str) -> list[str]:
    """Return what a glob matches, in the order of names."""
    found = glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207 # Path.glob refuses absolute ones
    return sorted(str(Path(folder, match)) for match in found)


def _end_if_wrong(findings: Sequence[Finding]) -> None:
    if findings:
        print_findings(findings)
        click.get_current_context().exit(2)
