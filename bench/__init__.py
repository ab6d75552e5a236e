"""The benchmarks behind docs/figures.md: each module runs as ``python -m bench.NAME`` and prints tables."""
