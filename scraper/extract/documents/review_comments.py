"""Comments of reviewers: a mark where they stand in the text, and what they say below it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from scraper.extract.text.sanitize import clean_line

_MOST = 1_000
_LONGEST = 4_000
_MARK = re.compile("\ue0f4(\\d+)\ue0f5")
"""Markdown's own signs would be escaped on the way."""


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """What one person noted at a place of the text."""

    author: str = ""
    date: str = ""
    text: str = ""
    resolved: bool = False


@dataclass(slots=True)
class ReviewComments:
    """The comments of one document, in the order of their places."""

    _found: list[ReviewComment] = field(default_factory=list)

    def mark(self, comment: ReviewComment) -> str:
        """What stands in the text until the Markdown is written; nothing for a comment without words."""
        if not comment.text.strip() or len(self._found) >= _MOST:
            return ""
        self._found.append(comment)
        return f"\ue0f4{len(self._found)}\ue0f5"

    def written(self, markdown: str) -> str:
        """The text with its marks as notes, and the comments themselves at its end."""
        marked = _MARK.sub(lambda match: f"[^comment-{match[1]}]", markdown)
        lines = [f"[^comment-{number}]: {_said(comment)}" for number, comment in enumerate(self._found, 1)]
        return "\n\n".join(filter(None, (marked, *lines)))


def _said(comment: ReviewComment) -> str:
    facts = [clean_line(comment.author, 100) or "Comment", comment.date[:10]]
    facts += ["resolved"] if comment.resolved else []
    return f"{', '.join(filter(None, facts))}: {clean_line(comment.text, _LONGEST)}"
