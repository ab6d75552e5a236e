"""Execution Suppression: from a crash back to the first corruption of memory (dissertation, chapters 5 and 7)."""
