"""Complete the lines of a recipe's markup from the visible lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

_MAX_LOST = 12
"""Letters and digits of an amount that the markup lost at the beginning of a line."""
_MIN_WITH_AMOUNT = 0.8
_MIN_MORE = 2
"""Lines with amounts among those that only the visible list has."""


def complete_lines(marked: list[str], visible: list[str], *, is_one_list: bool = True) -> list[str]:
    """Return the lines of the markup, or visible lines that contain the same and more.

    A visible line replaces a marked-up line that lost the beginning of its amount, or its whole amount like most of the
    list. The visible list replaces the whole list if the markup joined all lines to one, or contains only some of them.
    In the last case there must be only one visible list.
    """
    shown = {squash_line(line): line for line in visible}
    lines = [squash_line(line) for line in marked]
    if len(marked) == 1 and len(visible) > 1 and all(line in lines[0] for line in shown):
        return visible
    more = [line for text, line in shown.items() if text not in lines]
    has_all = len(more) == len(shown) - len(lines) and len(shown) == len(visible)
    if is_one_list and has_all and len(more) >= _MIN_MORE and _has_amounts(more):
        own = dict(zip(lines, marked, strict=True))
        return [own.get(text, line) for text, line in shown.items()]
    longer = [None if text in shown else _find_longer(text, shown) for text in lines]
    is_without_amounts = 2 * sum(line is not None for line in longer) > len(marked)
    return [
        line if other is None or not (is_without_amounts or line[:1].isnumeric()) else other
        for line, other in zip(marked, longer, strict=True)
    ]


def squash_line(line: str) -> str:
    """Return letters and digits in lower case, to compare lines."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", line).casefold()))


def _find_longer(text: str, shown: Mapping[str, str]) -> str | None:
    """Return the only visible line that ends with a squashed line and begins with more of its amount, or None."""
    longer = [other for other in shown if other.endswith(text) and 0 < len(other) - len(text) <= _MAX_LOST]
    has_amount = len(longer) == 1 and any(map(str.isdigit, longer[0].removesuffix(text)))
    return shown[longer[0]] if text and has_amount else None


def _has_amounts(lines: list[str]) -> bool:
    return sum(any(map(str.isnumeric, line)) for line in lines) >= _MIN_WITH_AMOUNT * len(lines)
