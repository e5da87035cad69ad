"""Return a command of a click group, which may load it lazily."""

import click


def command_of(group: click.Group, name: str) -> click.Command:
    """Return a command that is there."""
    found = group.get_command(click.Context(group), name)
    assert found is not None, name
    return found
