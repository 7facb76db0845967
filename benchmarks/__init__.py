"""Figures beside the peers, each measured in one run on one machine: `python -m benchmarks.NAME`."""
