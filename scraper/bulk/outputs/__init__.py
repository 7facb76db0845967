"""Output formats of a job behind one protocol.

After a crash, files are truncated to the last recorded position.
"""
