"""The commands of `krond`, one module for each group of them; `group` knows where each is."""

from kron.hosts.krond.commands.group import krond

__all__ = ["krond"]
