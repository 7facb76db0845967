"""Web page for people: a form for each tool, and the state of the server."""
