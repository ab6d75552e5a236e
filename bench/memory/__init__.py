"""Small programs with one memory error each, and what finds them."""
