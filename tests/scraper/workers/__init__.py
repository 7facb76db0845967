"""Tests of the worker processes, with real processes that really die."""
