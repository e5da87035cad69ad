"""The `krond` command: jobs of files as processes of this host. Admitted: what only this host knows. Never: a rule."""

import signal

HELD_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)  # held until krond can handle them
