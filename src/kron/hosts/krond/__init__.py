"""The `krond` command: jobs of files as processes of this host. Admitted: what only this host knows. Never: a rule."""
