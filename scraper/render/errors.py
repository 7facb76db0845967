"""What a failure says to the caller: one sentence and the next step, in one line of bounded length."""

from __future__ import annotations

from scraper.errors import ScraperError
from scraper.extract.text.sanitize import clean_line

MAX_CHARACTERS = 900
"""Clients cut long error texts; none was seen to cut below a thousand."""


def sentence(error: ScraperError) -> str:
    """What happened and what to do next."""
    return clean_line(error.sentence(), MAX_CHARACTERS)


def as_object(error: ScraperError) -> dict[str, object]:
    """The failure for programs."""
    return {"error": sentence(error), "error_code": error.code, "retryable": error.retryable}
