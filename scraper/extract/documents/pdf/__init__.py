"""PDF: what stands where on a page (`source`), and the layout above it, one file a question."""
