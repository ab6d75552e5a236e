"""Altered runs: one case run again and again, each time with chosen changes, and what became of each."""
