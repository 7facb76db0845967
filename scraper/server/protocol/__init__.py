"""MCP server: tools, prompts, resources and search methods."""
