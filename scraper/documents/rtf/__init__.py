"""RTF reader: tokens, formatting state and paragraphs."""
