"""Data of the answers of tools."""

from __future__ import annotations

from typing import Any

from scraper.tools.model import ToolAnswer


def data_of(answer: ToolAnswer) -> dict[str, Any]:
    """Return the object of an answer in JSON."""
    assert isinstance(answer.structured, dict), answer.text
    return answer.structured
