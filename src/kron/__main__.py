"""python -m kron: the `kron` command."""

from kron.entry_points import kron_main

kron_main()
