"""The store in PostgreSQL, for servers that share what they read; imported where a setting asks for it."""
