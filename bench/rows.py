"""The peer and number of tasks in a row's name: `apscheduler3@1000` is apscheduler3 with 1,000 tasks."""


def row_of(peer: str, size: int) -> str:
    """Return the name of the row that measures a peer with so many tasks."""
    return f"{peer}@{size}"


def peer_of(row: str) -> str:
    """Return the peer that a row measures; most rows are named after it alone."""
    return row.partition("@")[0]


def size_of(row: str) -> int:
    """Return the number of tasks in a row's name, 0 if it has none."""
    return int(row.partition("@")[2] or 0)
