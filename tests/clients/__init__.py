"""The server as other people's clients meet it, each in an environment of its own outside the repo."""
