"""Why something ran, or did not: evidence of a ledger or a cluster, explained. Nothing that decides imports it."""
