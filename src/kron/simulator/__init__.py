"""The simulator: the library's Scheduler, all of it, in a world whose clock, disk, callbacks and luck are drawn."""
