"""Processes on this host: small spawners that start and reap them, files that take their output, and their readers.

`runner` is for hosts; `output` for those who read output. `spawner`, `launch`, `privilege`, `progress` and `procfs`
run inside the spawner as well and import as little as they can: every user's spawner pays for it.
"""
