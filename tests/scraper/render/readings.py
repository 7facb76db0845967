"""Readings written down in a test."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from scraper.model import Document, Reading

URL = "https://example.com/page"
READ_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def reading(
    markdown: str = "Some text.", *, url: str = URL, document: dict[str, Any] | None = None, **more: Any
) -> Reading:
    return Reading(
        Document(url, markdown=markdown, text=markdown, **(document or {})),
        **{
            "url": url,
            "requested_url": url,
            "status": 200,
            "method": "http",
            "cached": False,
            "retrieved_at": READ_AT,
            **more,
        },
    )
