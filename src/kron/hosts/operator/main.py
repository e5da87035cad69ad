"""main(): the entry point of the `kron-operator` command."""

import sys

_NEEDED = ("aiohttp", "click", "prometheus_client", "starlette", "uvicorn", "yaml", "yarl")


def main() -> None:
    """Run the command; where its libraries are not installed, say how to get them."""
    try:
        from kron.hosts.console import run
        from kron.hosts.operator.commands import operator
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        text = "kron-operator: the operator needs a few more packages: pip install 'kron-scheduler[operator]'\n"
        sys.stderr.write(text)
        sys.exit(2)
    run(operator, "kron-operator")
