"""PostgreSQL implementation of the stores, for servers that share data.

It is imported only if a setting selects it.
"""
