"""A real control plane for benchmarks: the plane, who is measured on it, and what its audit log says of them."""
