"""Readers of documents, bytes to Markdown: `dispatcher` detects the format and loads its module or package."""
