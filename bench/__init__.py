"""The benchmarks behind the figures in docs/figures.md: each module runs as ``python -m bench.NAME`` and prints a table."""
