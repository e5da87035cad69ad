"""Metrics for Prometheus: the only place that imports prometheus_client."""
