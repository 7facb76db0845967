"""Tests of the pure reading rooms."""
