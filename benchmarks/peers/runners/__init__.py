"""Readers of the peers; each module is run by the peer's own interpreter from the root of the repo."""
