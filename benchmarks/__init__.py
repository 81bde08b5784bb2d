"""Benchmarks. Each is a module to run: `python -m benchmarks.core` measures the core against its bounds."""
