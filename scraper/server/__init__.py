"""Serve the tools over the Model Context Protocol, a REST interface and a web page."""
