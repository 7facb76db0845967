"""Web page for people: forms that call the tools, a page as agents see it, and the server's state."""
