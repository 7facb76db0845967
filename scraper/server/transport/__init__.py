"""JSON-RPC over stdio and HTTP: validation, batches, sessions."""
