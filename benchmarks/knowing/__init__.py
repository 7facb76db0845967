"""Benchmark of question-aware reading, of records and of fields."""
