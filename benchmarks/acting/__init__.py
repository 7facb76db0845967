"""Benchmark of pictures of pages."""
