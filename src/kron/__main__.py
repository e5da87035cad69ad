"""python -m kron: the `kron` command."""

from kron.hosts.cli.main import main

main()
