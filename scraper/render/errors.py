"""Render an error as one line with the next step, or as an object."""

from __future__ import annotations

from scraper.errors import ScraperError
from scraper.extract.text.sanitize import clean_line

MAX_CHARACTERS = 900
"""Characters of an error. Some clients cut long error texts; none was seen to cut below a thousand."""


def error_sentence(error: ScraperError) -> str:
    """Return what happened and what to do next, in one line."""
    return clean_line(error.sentence(), MAX_CHARACTERS)


def error_object(error: ScraperError) -> dict[str, object]:
    """Return the error for JSON answers."""
    return {"error": error_sentence(error), "error_code": error.code, "retryable": error.retryable}
