"""Read what a page states: structured data, title, author and date, products, recipes, fields and records."""
