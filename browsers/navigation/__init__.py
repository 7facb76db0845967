"""Visit one page in a tab: navigate, wait until it is ready, and capture it."""
