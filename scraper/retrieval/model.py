"""Frozen data types of excerpts that answer a question."""

from dataclasses import dataclass

from scraper.errors import ScraperError
from scraper.model import Reading


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Passage of a document that is relevant to a question."""

    text: str
    start: int
    """Offset of its first character in the Markdown."""
    score: float
    heading: str = ""
    end: int = 0
    """Offset after its last character in the Markdown."""
    fragment: str = ""
    """Text directive of a link that opens the page at the passage: `text=...`; empty if there is none."""


@dataclass(frozen=True, slots=True)
class PageExcerpts:
    """Page that was requested for a question, with its relevant excerpts."""

    url: str
    outcome: Reading | ScraperError
    excerpts: tuple[Excerpt, ...] = ()
    same_as: int | None = None
    """Index, from 0, of an earlier page with the same text."""
