"""Caches of pages and results, and single flight for what is missing from them."""
