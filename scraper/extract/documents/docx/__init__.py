"""Word files: what mammoth does not read is written into the text beforehand; its HTML becomes Markdown."""
