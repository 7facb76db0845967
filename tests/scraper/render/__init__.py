"""Tests of the pure answer rooms."""
