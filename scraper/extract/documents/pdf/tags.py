"""The structure that a file's author gave (tagged PDF), where it covers the page and is more than a heap."""

from __future__ import annotations

from scraper.extract.documents.pdf.shapes import Block, Page

__all__ = ["blocks_by_tags"]


def blocks_by_tags(page: Page) -> list[Block] | None:
    """The blocks as tagged; None where the tags cannot be relied on."""
    return None
