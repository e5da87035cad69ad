"""Make it happen, once. Here live the only loop in Kron that waits for time, and the ports it works through.

Nothing here knows a database, a process or a wall clock: adapters do, and hosts choose them.
"""
