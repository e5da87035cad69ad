"""What will run: expected runs, load, plans of a change, tuning, feeds. Pure; unknown to the engine."""
