"""Realistic faults, seeded into the corpus' programs at any number."""
