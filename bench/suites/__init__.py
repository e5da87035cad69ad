"""One module per suite, each ending in the constant SUITE. Admitted: what is measured. Never: how processes are run."""
