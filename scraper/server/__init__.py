"""The Model Context Protocol face of the tools; the only room that knows the SDK."""
