"""Output formats of a job; after a crash, files are truncated to the last recorded position."""
