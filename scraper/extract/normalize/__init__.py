"""Normalize footnotes, ARIA widgets and inline text of a tree before it is converted."""
