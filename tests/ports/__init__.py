"""Suites of the ports that nobody but Kron implements: every adapter of such a port passes its suite."""
