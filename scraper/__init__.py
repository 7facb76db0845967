"""Read, search and extract web pages for AI agents."""
