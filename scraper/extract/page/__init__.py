"""Build the tree of the visible content of a page."""
