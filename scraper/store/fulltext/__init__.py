"""Full text in every script: how words reach SQLite's index, what queries mean, where the hits stand."""
