"""How hypothesis searches in these tests: no stopwatch, because a busy machine is not a bug."""

from hypothesis import HealthCheck, settings

settings.register_profile("kron", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kron")
