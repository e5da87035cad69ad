"""kron k8s: KronJobs from the command line. What a KronJob means is in `kron.kronjob`."""
