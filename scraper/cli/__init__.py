"""The same verbs for a person at a terminal."""
