"""What all techniques stand on, gathered once for a failure, in the time there is: runs, recordings, altered runs."""
