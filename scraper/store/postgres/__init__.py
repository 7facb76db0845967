"""PostgreSQL implementation of the stores, for servers that share data; imported only if a setting selects it."""
