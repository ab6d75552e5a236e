"""Several faults at once: located and fixed one after the other, and failing runs in groups."""
