"""The ledger in a SQLite file: who may have it (possession), what is in it (schema), and the thread that writes it."""
