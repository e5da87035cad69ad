"""A real control plane for benchmarks: the plane, the measured subjects, and their writes in its audit log."""
