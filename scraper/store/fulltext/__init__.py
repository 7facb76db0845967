"""Full-text search shared by SQLite and PostgreSQL: tokenization, query language and snippets."""
