"""Admitted: what talks to a Kubernetes API server, YAML, and the operator's side of the engine's ports.

Documents are plain data as JSON has them. No other package imports aiohttp, yarl or yaml. Never: the meaning of a
KronJob, which is in `kron.kronjob`; options, signals and the log of a program.
"""
