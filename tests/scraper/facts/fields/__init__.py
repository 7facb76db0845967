"""Tests of fields and records."""
