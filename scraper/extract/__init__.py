"""Extract text, Markdown, metadata and structured data from a snapshot: pure functions without I/O."""
