"""What the reading tools have in common: two parameters, and the form of an answer."""

from __future__ import annotations

import json
import secrets
from typing import Any

from scraper.render.fetch import BODY_BUDGET
from scraper.settings import Settings
from scraper.tools.arguments import OneOf, Parameter

__all__ = ["FORMAT", "RENDER", "body_budget", "compact", "new_region"]

RENDER = Parameter(
    "render",
    OneOf(("auto", "http", "browser")),
    "auto: as served, rendered only where that shows too little. http: as served, quick, no scripts run. "
    "browser: always rendered, slower.",
    default="auto",
)
FORMAT = Parameter("format", OneOf(("markdown", "json")), "Form of the answer.", default="markdown")

_REGION_BYTES = 6
"""A page cannot guess 48 random bits that are made after it was read."""


def new_region() -> str:
    """The id of one answer's untrusted regions."""
    return secrets.token_hex(_REGION_BYTES)


def body_budget(settings: Settings) -> int:
    """Tokens of page text in an answer; the rest of what the operator allows is for header and border."""
    return round(BODY_BUDGET * settings.max_answer_tokens / Settings().max_answer_tokens)


def compact(data: Any) -> str:
    """JSON without a character too many."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
