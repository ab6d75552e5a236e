"""``whence schedules``: searches the schedules of a program's threads for one under which a case fails."""
