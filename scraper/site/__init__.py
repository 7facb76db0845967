"""Read whole sites: list the pages of a site, or visit them."""
