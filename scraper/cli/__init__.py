"""Command line interface: the same tools for a terminal."""
