"""Whence tells a C programmer where a failure comes from.

The package reads from top to bottom as data flows: ``build`` captures a program, ``program`` reads its
IR, ``probe`` instruments it, ``run`` runs cases, ``trace`` reads what a run recorded, ``techniques`` turn
runs and traces into findings, ``report`` shows them, and ``cli`` has one file a command.
"""

__version__ = "0.1.0"
