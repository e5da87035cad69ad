"""A cluster's API server: asking it, watching it, and leading among replicas.

Documents are plain data as JSON has them. What a KronJob means is not known here, and nobody else imports aiohttp.
"""
