"""REST interface: the tools over plain HTTP, for programs without MCP."""
