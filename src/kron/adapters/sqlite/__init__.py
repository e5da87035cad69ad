"""The ledger in a SQLite file: its lock, its tables, the thread that writes it, and the queries that read it."""
