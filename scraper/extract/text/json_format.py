"""JSON laid out for a person, a value a line."""

from __future__ import annotations

import json

MAX_LAID_OUT = 300_000
"""Characters; a longer text is shown as it came: indenting it costs more than it helps."""


def laid_out(text: str) -> str:
    """A JSON text, indented where it is short and sound."""
    if len(text) > MAX_LAID_OUT:
        return text.strip()
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text.strip()
