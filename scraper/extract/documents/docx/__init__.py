"""Word reader: writes what mammoth does not read into the text, then converts mammoth's HTML to Markdown."""
