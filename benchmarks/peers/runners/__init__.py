"""Readers of the peers, each run as a module by the peer's own interpreter from the root of the repo."""
