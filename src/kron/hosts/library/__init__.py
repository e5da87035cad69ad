"""The library: `Scheduler` and `running`, inside the process of its user."""
