"""Stores for pages, search answers and named indexes, in SQLite files or in PostgreSQL."""
