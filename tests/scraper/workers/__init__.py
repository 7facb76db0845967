"""Tests of the worker processes, with real processes that are really killed."""
