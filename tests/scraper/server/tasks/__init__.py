"""Tests for calls that outlive their request."""
