"""Why something ran, or did not: evidence of a ledger or a cluster to an explanation. What decides never imports it."""
