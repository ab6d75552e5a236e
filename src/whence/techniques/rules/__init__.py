"""Persistent rules: one change of a site in whole runs, tried on all cases, shown as a change of source."""
