"""Tests with third-party clients, each in a separate environment outside the repository."""
