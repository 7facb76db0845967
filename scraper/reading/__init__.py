"""Decides when a page is read from the web, from the cache, again, or not at all."""
