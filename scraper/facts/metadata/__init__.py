"""Read title, author, date, site name and language of a page."""
