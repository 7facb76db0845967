"""Benchmark of the tools that read whole sites."""
