"""Find values of named fields and lists of records on a page."""
