"""Admitted: what talks to a Kubernetes API server, and YAML. Never: the meaning of a KronJob.

Documents are plain data as JSON has them. No other package imports aiohttp, yarl or yaml.
"""
