"""KronJob, the resource `kronjobs.kron.io/v1alpha1`: documents in, jobs and names out; no cluster, YAML or clock."""
