"""Convert an HTML tree into Markdown."""
