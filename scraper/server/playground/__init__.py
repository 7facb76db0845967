"""The page for people: what this server is, a form for each of its tools, and how it stands."""
