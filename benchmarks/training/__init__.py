"""Train the reader's content model from pages with gold texts."""
