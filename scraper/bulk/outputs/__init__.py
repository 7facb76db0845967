"""Output formats of a job.

After a crash, files are truncated to the last recorded position.
"""
