"""A real Kubernetes control plane for tests, without containers: etcd, API server, controllers and a test kubelet."""
