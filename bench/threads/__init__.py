"""Programs with one error of threads each, and what finds it."""
