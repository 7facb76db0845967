"""Caches of pages and results, and single flight: callers that need the same missing result share its load."""
