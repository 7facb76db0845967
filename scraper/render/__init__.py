"""Answers: pure functions from data to Markdown or JSON of bounded size."""
