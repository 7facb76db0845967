"""The currency that a page's scripts reckon in: evidence of which of its namesakes a sign such as `$` is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scraper.extract.page.page_tree import ScriptElement

_MAX_CHARACTERS = 3_000_000
_STATED = re.compile(
    r"(?i:currency(?:_?code|_?iso(?:_?code)?)?)\\?[\"']?\s*[:=]\s*(?:\{\s*\\?[\"']?active\\?[\"']?\s*:\s*)?\\?[\"']"
    r"([A-Z]{3})\\?[\"']"
)


def codes(scripts: Iterable[ScriptElement]) -> frozenset[str]:
    """The codes that stand beside a word for currency in the scripts."""
    found: set[str] = set()
    left = _MAX_CHARACTERS
    for script in scripts:
        left -= len(script.text)
        if left < 0:
            break
        found.update(_STATED.findall(script.text))
    return frozenset(found)
