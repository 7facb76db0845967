"""Render answers of tools as Markdown and JSON of bounded size."""
