"""Who is told of what became of jobs: hooks and pings, never in the way of a run."""
