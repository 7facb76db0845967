"""SQLite implementation of the stores."""
