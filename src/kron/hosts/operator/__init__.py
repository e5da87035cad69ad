"""kron-operator: KronJobs on Kubernetes. What they mean is in `kron.kronjob`; here is what a cluster adds."""
