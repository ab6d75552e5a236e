"""Data races: accesses of two threads that nothing orders, found in a recorded run."""
