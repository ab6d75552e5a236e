"""What depends on what in a recorded run, even on what did not happen: slices, branches and their sides, places."""
