"""Value Replacement: other values at single instances of a failing run, and what they say about statements."""
