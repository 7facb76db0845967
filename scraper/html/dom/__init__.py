"""Parse HTML with lxml and query the tree."""
