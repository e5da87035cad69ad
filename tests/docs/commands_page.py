"""The page of all commands, from what `--help` says."""

import inspect
from collections.abc import Iterator

import click

from kron.cli.commands import kron
from kron.hosts.krond.commands.group import krond
from kron.hosts.operator.commands import operator
from tests.commands import command_of
from tests.docs.markdown import code, prose, table

PROGRAMS: dict[str, click.Group] = {"kron": kron, "krond": krond, "kron-operator": operator}


def leaves(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield every command that is no group, with the context in which it is called."""
    for word in group.list_commands(context):
        command = command_of(group, word)
        own = click.Context(command, info_name=word, parent=context, **command.context_settings)
        if isinstance(command, click.Group):
            yield from leaves(command, own)
        else:
            yield command, own


def commands_page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from ("# Commands", "", "What `--help` says of every command of the three programs.", "")
    for name, group in PROGRAMS.items():
        context = click.Context(group, info_name=name, **group.context_settings)
        found = list(leaves(group, context))
        yield from (f"## {name}", "", *_help(group))
        yield from table(
            ("command", "does"),
            ((f"[`{own.command_path}`](#{_anchor(own)})", prose(_summary(command))) for command, own in found),
        )
        for command, own in found:
            yield from _command(command, own)


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"### {context.command_path}", "", "```text", usage, "```", "", *_help(command))
    options = [each for each in command.get_params(context) if isinstance(each, click.Option) and not each.hidden]
    records = [each.get_help_record(context) or ("", "") for each in options]
    rows = [(code(names), prose(text)) for names, text in records if "--help" not in names]
    if rows:
        yield from table(("option", "effect"), rows)
    if command.epilog:
        yield from ("Example:", "", "```", command.epilog.splitlines()[-1].strip(), "```", "")


def _help(command: click.Command) -> Iterator[str]:
    for block in inspect.cleandoc(command.help or "").split("\n\n"):
        first, *rest = block.splitlines()
        if first == "\b":  # what click leaves as it is
            yield from ("```text", *rest, "```", "")
        else:
            yield from (prose(block), "")


def _summary(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "").split("\n\n")[0]


def _anchor(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")
