"""KronJobs of Kubernetes. Admitted: documents in, values and documents out. Never: a cluster, YAML, a clock."""
