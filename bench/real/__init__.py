"""Real programs: gzip, grep, sed, bc and diffutils fetched, built and tested; faults planted in them; SQLite."""
