"""The manual pages, generated from `--help` and docs/job-files.md: `make man`."""

import inspect
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click

from kron._version import __version__
from kron.cli.commands import kron
from kron.hosts.krond.commands.group import krond
from kron.hosts.operator.commands import operator
from tests.commands import command_of
from tests.packaging.roff import bold, escape, example, item, markdown, spans

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging" / "man"

_KROND_FILES = {
    "/etc/krond": "Job files of the system unit: `*.toml`, `*.kron`, `*.crontab` and `cron.d/*`.",
    "/var/lib/krond": (
        "The state directory of root, mode 0700: `ledger.db` (periods and runs), `output/` (captured output), "
        "`control.sock`, `lock` and `token`."
    ),
    "$XDG_STATE_HOME/krond": "That of other users; `~/.local/state/krond` where the variable is not set.",
}
_KROND_SIGNALS = {
    "SIGTERM, SIGINT": "Drain: start no job, and exit when all runs have ended. A second signal terminates them.",
    "SIGHUP": "Reload the job files. Running jobs continue, and files with errors change nothing.",
}
_KROND_ENVIRONMENT = {
    "KROND_STATE": "The state directory, without `--state`.",
    "NOTIFY_SOCKET": "Socket for readiness notification; set by systemd.",
    "NO_COLOR": "Print without colours.",
}
_KRON_ENVIRONMENT = {"NO_COLOR": "Print without colours."}
_OPERATOR_ENVIRONMENT = {
    "KRON_OPERATOR_FLAG": "Each option of `run`, in capitals, such as `KRON_OPERATOR_LEASE_NAME`; the option wins.",
    "KUBECONFIG": "The kubeconfig, without `--kubeconfig`; in a Pod neither is needed.",
    "NO_COLOR": "Print without colours.",
}


def pages() -> dict[str, str]:
    """Return every page by the name of its file."""
    text = (ROOT / "docs" / "job-files.md").read_text("utf-8").partition("\n")[2].lstrip()
    see = {
        "kron.1": ("krond(8)", "krond.toml(5)", "kron-operator(8)"),
        "krond.8": ("kron(1)", "krond.toml(5)", "crontab(5)"),
    }
    return {
        "kron.1": _page("kron.1", _program(kron, "kron"), _list("ENVIRONMENT", _KRON_ENVIRONMENT), _see(see["kron.1"])),
        "krond.8": _page(
            "krond.8",
            _program(krond, "krond"),
            _list("SIGNALS", _KROND_SIGNALS),
            _list("ENVIRONMENT", _KROND_ENVIRONMENT),
            _list("FILES", _KROND_FILES),
            _see(see["krond.8"]),
        ),
        "kron-operator.8": _page(
            "kron-operator.8",
            _program(operator, "kron-operator"),
            _list("ENVIRONMENT", _OPERATOR_ENVIRONMENT),
            _see(("kron(1)",)),
        ),
        "krond.toml.5": _page(
            "krond.toml.5",
            iter((".SH NAME", r"krond.toml \- job files of krond", ".SH DESCRIPTION")),
            markdown(text),
            _see(("kron(1)", "krond(8)", "crontab(5)")),
        ),
    }


def _page(name: str, *parts: Iterator[str]) -> str:
    title, _, section = name.rpartition(".")
    lines = [
        f'.\\" Written by `make man` from what `{title.partition(".")[0]} --help` says and from docs/job-files.md.',
        f'.TH {title.upper()} {section} "" "Kron {__version__}" "Kron"',
    ]
    for line in chain(*parts):
        if line != ".PP" or not lines[-1].startswith((".SH", ".SS")):  # a heading begins a paragraph
            lines.append(line)
    return "\n".join(lines) + "\n"


def _program(group: click.Group, name: str) -> Iterator[str]:
    context = click.Context(group, info_name=name, **group.context_settings)
    says, *rest = _paragraphs(group)
    summary = says[0].rstrip(".")
    yield from (".SH NAME", rf"{name} \- {escape(summary[0].lower() + summary[1:])}", ".SH SYNOPSIS")
    yield f"{bold(name)} {escape(' '.join(group.collect_usage_pieces(context)))}"
    yield ".SH DESCRIPTION"
    yield from _shown([says, *rest])
    yield ".SH OPTIONS"
    yield from _options(group, context)
    yield ".SH COMMANDS"
    for command in _leaves(group, context):
        yield from _command(*command)


def _leaves(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield every command that does something, with the context in which it is called."""
    for word in group.list_commands(context):
        command = command_of(group, word)
        own = click.Context(command, info_name=word, parent=context, **command.context_settings)
        if isinstance(command, click.Group):
            yield from _leaves(command, own)
        else:
            yield command, own


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {bold(context.command_path)} {escape(usage)}"
    yield from _shown(_paragraphs(command))
    yield from _options(command, context)
    if command.epilog:
        yield from (".PP", "Example:", *example([command.epilog.splitlines()[-1].strip()]))


def _paragraphs(command: click.Command) -> list[list[str]]:
    """Return the lines of each paragraph of a help text."""
    return [block.splitlines() for block in inspect.cleandoc(command.help or "").split("\n\n")]


def _shown(paragraphs: list[list[str]]) -> Iterator[str]:
    for lines in paragraphs:
        if lines[0] == "\b":  # what click leaves as it is
            yield from example(lines[1:])
        else:
            yield from (".PP", *map(spans, lines))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record and "--help" not in record[0]:
            yield from item(bold(record[0]), escape(record[1]))


def _list(heading: str, entries: dict[str, str]) -> Iterator[str]:
    yield f".SH {heading}"
    for tag, text in entries.items():
        yield from item(bold(tag), spans(text))


def _see(others: tuple[str, ...]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ", ".join(rf"\fB{escape(name)}\fR({section[:-1]})" for name, _, section in map(_split, others))


def _split(reference: str) -> tuple[str, str, str]:
    return reference.partition("(")


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
