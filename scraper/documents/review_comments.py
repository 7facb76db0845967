"""Write review comments of Office documents as footnotes."""

from __future__ import annotations

import re

from scraper.text.sanitize import clean_line

_COMMENT_PLACEHOLDER = re.compile("\ue0f4(\\d+)\ue0f5")
"""Markdown's own characters would be escaped."""
_MAX_COMMENTS = 1_000
_MAX_COMMENT_CHARS = 4_000


class ReviewComments:
    """Reviewers' comments on passages of one document, in text order."""

    def __init__(self) -> None:
        """Begin without comments."""
        self._lines: list[str] = []

    def add(self, author: str, date: str, text: str, *, is_resolved: bool = False) -> str:
        """Return the placeholder for a comment in the text; empty without a text, and after 1,000 comments."""
        if not text.strip() or len(self._lines) >= _MAX_COMMENTS:
            return ""
        facts = (clean_line(author, 100) or "Comment", date[:10], "resolved" if is_resolved else "")
        self._lines.append(f"{', '.join(filter(None, facts))}: {clean_line(text, _MAX_COMMENT_CHARS)}")
        return f"\ue0f4{len(self._lines)}\ue0f5"

    def insert(self, markdown: str) -> str:
        """Replace the placeholders by note references, and append the comments."""
        text = _COMMENT_PLACEHOLDER.sub(lambda match: f"[^comment-{match[1]}]", markdown)
        notes = (f"[^comment-{number}]: {line}" for number, line in enumerate(self._lines, 1))
        return "\n\n".join(filter(None, (text, *notes)))
