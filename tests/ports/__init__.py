"""Suites of the ports that only Kron implements: every adapter of such a port passes its suite."""
