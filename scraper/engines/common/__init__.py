"""Shared code of the engines: build requests, parse result pages."""
