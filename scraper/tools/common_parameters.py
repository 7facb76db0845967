"""What the reading tools have in common: three parameters, and the form of an answer."""

from __future__ import annotations

import functools
import json
import secrets
from collections.abc import Mapping
from typing import Any

from scraper.render.fetch import BODY_BUDGET, MAX_LENGTH
from scraper.settings import Settings
from scraper.tools.arguments import ChoiceArgument, NumberArgument, Parameter

RENDER = Parameter(
    "render",
    ChoiceArgument(("auto", "http", "browser")),
    "http: as served, no scripts run. browser: rendered, slower. auto: rendered only where needed.",
    default="auto",
)
FORMAT = Parameter("format", ChoiceArgument(("markdown", "json")), "Of the answer.", default="markdown")

RESULT_CHARS = MAX_LENGTH + 20_000
"""Of an answer of the greatest length that can be asked for, with its header and the quoting of JSON."""

_HOUR_S = 3_600.0
_MAX_AGE_HOURS = 87_600
_REGION_BYTES = 6
"""A page cannot guess 48 random bits that are made after it was read."""


def max_age(about: str, settings: Settings) -> Parameter:
    """How old a kept copy may be; `about` says of what."""
    told = f"{about} Not given: {settings.cache_ttl_h:g}."
    return Parameter("max_age_hours", NumberArgument(0, _MAX_AGE_HOURS), told)


def max_age_s(given: Mapping[str, Any]) -> float | None:
    """How old it may be for a caller who gave these values; None where the operator's usual age counts."""
    hours: float | None = given["max_age_hours"]
    return None if hours is None else hours * _HOUR_S


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
