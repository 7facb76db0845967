"""Readers of documents: bytes to Markdown.

`dispatcher` detects the format and loads its reader, a module or a package.
"""
