"""Write fenced code blocks. PDF files are read with it, so it loads no HTML parser."""

from __future__ import annotations

import json
import re

_TICKS = re.compile(r"`{3,}")


def fence(code: str, language: str) -> str:
    """Return a fenced block with a fence that is longer than any in the code."""
    longest = max((len(run) for run in _TICKS.findall(code)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


_MAX_FORMATTED_JSON = 300_000
"""Characters. Longer JSON stays as it is: indenting it costs more than it helps."""


def format_json(text: str) -> str:
    """Return valid JSON with indentation if it is short, else the text without surrounding white space."""
    if len(text) > _MAX_FORMATTED_JSON:
        return text.strip()
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text.strip()
