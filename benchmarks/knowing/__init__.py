"""Benchmark of question-aware reading."""
