"""How hypothesis searches in these tests: half as long as usual, and by no stopwatch: a busy machine is no bug."""

from hypothesis import HealthCheck, settings

settings.register_profile("kron", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kron")
