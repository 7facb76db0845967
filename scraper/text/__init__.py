"""Clean, split, measure and identify plain text and Markdown text."""
