"""Facts of the product or recipe of a page, each with its source and confidence."""
