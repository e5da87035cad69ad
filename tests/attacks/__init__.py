"""Attacks by a local user on krond, and by a tenant on the operator, played as the attacker would."""
