"""Programs that crash far from their one error, which is in the line with ``//!``; with ``-DRIGHT`` they have none."""

from __future__ import annotations

from pathlib import Path

from bench.memory.programs import read_all

PROGRAMS = read_all(Path(__file__).parent)
