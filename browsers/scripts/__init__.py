"""The JavaScript that runs in a world of its own inside visited pages, invisible to them."""

from importlib.resources import files

__all__ = ["MARK", "PROBE"]

PROBE = files(__name__).joinpath("probe.js").read_text(encoding="utf-8")
"""Installs `globalThis.__settling`; its `look()` gives the tuple that settle.py reads."""

MARK = files(__name__).joinpath("mark.js").read_text(encoding="utf-8")
"""A function that marks what a person would not see and returns the document."""
