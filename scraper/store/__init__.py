"""Keeps what was read, behind protocols that another backend can meet."""
