"""Word files: what mammoth does not read is written into the text beforehand, then its HTML becomes Markdown."""
