"""Select the passages of Markdown texts that answer a question."""
