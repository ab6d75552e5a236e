"""What Execution Suppression finds, and what it costs."""
