"""Readers of the ways in which pages mark up data."""
