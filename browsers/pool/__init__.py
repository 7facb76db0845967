"""Pool of browsers and tabs, and the queue for them."""
