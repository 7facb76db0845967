"""Word reader: inserts what mammoth ignores as plain text, then converts mammoth's HTML to Markdown."""
