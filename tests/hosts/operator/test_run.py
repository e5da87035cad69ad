"""kron-operator run: what it takes, before it asks any cluster."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kron.hosts.operator.commands import operator


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--slack", "soon"], "--slack"),
        (["--retry-period", "20s"], "--retry-period < --renew-deadline"),
        (["--listen", "nowhere"], "must be HOST:PORT or unix:/path, found 'nowhere'"),
        (["--listen", "off"], "must be HOST:PORT"),
        (["--listen", "127.0.0.1:http"], "must be HOST:PORT"),
        (["--leader-elect", "perhaps"], "--leader-elect"),
        (["--workers", "0"], "--workers"),
    ],
)
def test_wrong_usage_is_told_and_ends_with_two(words: list[str], told: str) -> None:
    done = CliRunner().invoke(operator, ["run", *words])

    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_kubeconfig_that_cannot_be_read_ends_with_two(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")

    done = CliRunner().invoke(operator, ["run", "--listen", "127.0.0.1:0", "--kubeconfig", missing])

    assert (done.exit_code, done.stdout) == (2, "")
    assert missing in done.stderr
