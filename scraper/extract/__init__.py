"""Read a page into Markdown: content, discussions and verdict. Pure functions without I/O."""
