"""Read, search and extract web pages for AI agents: a package of search-mcp."""
