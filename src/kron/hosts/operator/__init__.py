"""Admitted: composition and lifecycle of kron-operator, its log, and what outcomes mean for its users.

Never: the meaning of a KronJob, which is in `kron.kronjob`, and requests, which `kron.adapters.kubernetes` makes.
"""
