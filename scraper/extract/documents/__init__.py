"""Readers of documents other than web pages: bytes to Markdown, one module per format."""
