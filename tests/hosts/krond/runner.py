"""krond(*arguments) -> Answer: the command as a script calls it."""

from click.testing import CliRunner

from kron.hosts.krond.commands import krond as group
from tests.cli.runner import Answer


def krond(*arguments: str) -> Answer:
    """Run the command in this process; an exception that is no exit is a failure of the test."""
    result = CliRunner().invoke(group, arguments, prog_name="krond", catch_exceptions=False)
    return Answer(result.exit_code, result.stdout, result.stderr)
