"""Build the tree of a page's visible content: find hidden elements, placeholders and the main content."""
