"""How each search engine is asked and read: data and pure functions, one file an engine."""
