"""Complete the lines of a recipe's markup from the visible lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

_MAX_LOST = 12
"""Letters and digits of an amount that the markup lost at the beginning of a line."""
_MIN_WITH_AMOUNT = 0.8
"""Minimum share of lines with a number in a list of ingredients."""
_MIN_MORE = 2
"""Lines with amounts among those that only the visible list has."""
_MAX_PART = 0.6
"""Share. Visible steps replace those of the markup only if the markup has at most this share of them.

Notes may follow the last step.
"""
_MIN_ALIKE = 0.6
"""Minimum Jaccard similarity of the words of two lines about the same ingredient."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_MIXED = re.compile(r"(\d)([\u00bc-\u00be\u2150-\u215e])")
_NUMBER = re.compile(
    r"(?:(?P<whole>\d{1,4})[ -]+)?(?P<upper>\d{1,4}) ?/ ?(?P<lower>\d{1,4})|(?P<decimal>\d{1,6}(?:[.,]\d{1,4})?)"
)


def complete_lines(marked: list[str], visible: list[str], *, is_one_list: bool = True) -> list[str]:
    """Return the lines of the markup, or visible lines that contain the same and more.

    A visible line replaces a marked-up line that lost the beginning of its amount, or its whole amount like most of the
    list. The visible list replaces the whole list if the markup joined all lines to one, or contains only some of them.
    The last case requires `is_one_list`: the page shows only one list.
    """
    shown = {_squash_line(line): line for line in visible}
    lines = [_squash_line(line) for line in marked]
    if len(marked) == 1 and len(visible) > 1 and all(line in lines[0] for line in shown):
        return visible
    more = [line for text, line in shown.items() if text not in lines]
    has_all = len(more) == len(shown) - len(lines) and len(shown) == len(visible)
    if is_one_list and has_all and len(more) >= _MIN_MORE and _has_amounts(more):
        own = dict(zip(lines, marked, strict=True))
        return [own.get(text, line) for text, line in shown.items()]
    if len(marked) == len(visible):
        marked = _with_visible_amounts(marked, visible)
        lines = [_squash_line(line) for line in marked]
    longer = [None if text in shown else _find_longer(text, shown) for text in lines]
    is_without_amounts = 2 * sum(line is not None for line in longer) > len(marked)
    return [
        line if other is None or not (is_without_amounts or line[:1].isnumeric()) else other
        for line, other in zip(marked, longer, strict=True)
    ]


def complete_steps(marked: list[str], visible: list[str]) -> list[str]:
    """Return the marked-up steps, or the visible ones if the markup holds only some of them."""
    lines, shown = (set(map(_squash_line, steps)) for steps in (marked, visible))
    is_part = lines < shown and len(shown - lines) >= _MIN_MORE and len(lines) <= _MAX_PART * len(shown)
    return visible if marked and is_part else marked


def _with_visible_amounts(marked: list[str], visible: Sequence[str]) -> list[str]:
    """Replace lines whose amount the page does not show by the only visible line about the same."""
    shown = [(line, _words(line), _amounts(line)) for line in visible]
    amounts = set().union(*(found for _, _, found in shown)) if shown else set()
    lines = []
    for line in marked:
        stated, words = _amounts(line), _words(line)
        alike = [row for row in shown if words and len(words & row[1]) >= _MIN_ALIKE * len(words | row[1])]
        is_hidden = stated and len(alike) == 1 and alike[0][2] and not stated & alike[0][2] and not stated <= amounts
        lines.append(alike[0][0] if is_hidden else line)
    return lines


def _amounts(line: str) -> set[float]:
    """Return the numbers of a line; `1 1/2`, `1½` and `1.5` are equal."""
    text = unicodedata.normalize("NFKC", _MIXED.sub(r"\1 \2", line)).replace("\u2044", "/")
    return {round(_number(match), 2) for match in _NUMBER.finditer(text)}


def _number(match: re.Match[str]) -> float:
    if match["upper"]:
        return float(match["whole"] or 0) + float(match["upper"]) / (float(match["lower"]) or 1)
    return float(match["decimal"].replace(",", "."))


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line.casefold()))


def _squash_line(line: str) -> str:
    """Return letters and digits in lower case, to compare lines."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", line).casefold()))


def _find_longer(text: str, shown: Mapping[str, str]) -> str | None:
    """Return the only visible line that ends with a squashed line and begins with more of its amount, or None."""
    longer = [other for other in shown if other.endswith(text) and 0 < len(other) - len(text) <= _MAX_LOST]
    has_amount = len(longer) == 1 and any(map(str.isdigit, longer[0].removesuffix(text)))
    return shown[longer[0]] if text and has_amount else None


def _has_amounts(lines: list[str]) -> bool:
    return sum(any(map(str.isnumeric, line)) for line in lines) >= _MIN_WITH_AMOUNT * len(lines)
