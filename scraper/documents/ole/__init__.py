"""Readers of the binary formats in OLE compound files: Word and PowerPoint until 2003, Outlook messages."""
