"""Programs with threads that crash by the default order of turns. The first line names the kind of what is wrong.

``race``: what the crash came of is one of two accesses that nothing orders; the lines with ``//!`` are the two, or
further ones of that variable. ``memory``: the crash came of the line with ``//!``, and no race is at what it came of.
``harmless``: the same, but there are races that make no difference.
"""

from __future__ import annotations

from pathlib import Path

from bench.threads.programs import read_all

PROGRAMS = read_all(Path(__file__).parent)
