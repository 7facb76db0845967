"""Reading: pure functions from a Snapshot to a Document, fit to run in another process."""
