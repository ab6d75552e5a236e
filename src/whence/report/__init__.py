"""Findings to terminal, JSON and HTML."""
