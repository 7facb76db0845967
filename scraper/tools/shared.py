"""What the reading tools have in common: two parameters, and the form of an answer."""

from __future__ import annotations

import functools
import json
import secrets
from typing import Any

from scraper.render.fetch import BODY_BUDGET, MAX_LENGTH
from scraper.settings import Settings
from scraper.tools.arguments import OneOf, Parameter

__all__ = ["FORMAT", "RENDER", "RESULT_CHARS", "body_budget", "compact", "new_region"]

RENDER = Parameter(
    "render",
    OneOf(("auto", "http", "browser")),
    "http: as served, no scripts run. browser: rendered, slower. auto: rendered only where needed.",
    default="auto",
)
FORMAT = Parameter("format", OneOf(("markdown", "json")), "Of the answer.", default="markdown")

RESULT_CHARS = MAX_LENGTH + 20_000
"""Of an answer of the greatest length that can be asked for, with its header and the quoting of JSON."""

_REGION_BYTES = 6
"""A page cannot guess 48 random bits that are made after it was read."""


def new_region() -> str:
    """The id of one answer's untrusted regions."""
    return secrets.token_hex(_REGION_BYTES)


def body_budget(settings: Settings) -> int:
    """Tokens of page text in an answer; the rest of what the operator allows is for header and border."""
    return round(BODY_BUDGET * settings.max_answer_tokens / _usual_answer_tokens())


@functools.cache
def _usual_answer_tokens() -> int:
    return Settings().max_answer_tokens


def compact(data: Any) -> str:
    """JSON without a character too many."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
