"""The engines' names, for those who only list them: nothing is loaded for that."""

from __future__ import annotations

NAMES = ("duckduckgo", "mojeek", "googlenews", "startpage", "brave", "bing", "baidu")
"""In the order in which they are told to people."""

DEFAULTS = NAMES[:3]
"""Asked when a caller names none."""
