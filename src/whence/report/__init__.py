"""Findings to terminal, JSON and HTML. A report knows ``Findings`` and nothing of how they were found."""
