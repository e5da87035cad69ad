"""Why something ran, or did not: evidence of a ledger to an explanation. Pure; nothing that decides imports it."""
