"""Shorten JSON data to a token budget: first cut texts and lists, then drop blocks."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scraper.text import token_estimate
from scraper.values.text import truncate


@dataclass(frozen=True, slots=True)
class TruncatedJson:
    """Blocks within a budget, `shortened` if anything was cut or dropped, and the number of dropped ones."""

    blocks: tuple[Any, ...]
    shortened: bool = False
    left_out: int = 0


_LEVELS = ((600, 200, 20), (300, 40, 12), (160, 12, 8), (80, 5, 6))
"""Characters of a text, items and depth, from mild to strict. Readers need prices and dates, not article bodies."""

_MIN_BUDGET = 20
"""Tokens. With a smaller budget, all blocks are dropped unless they all fit."""


def truncate_json(blocks: Sequence[Any], budget: int) -> TruncatedJson:
    """Return the blocks, all shortened by the mildest limits that fit a token budget; else the last are dropped."""
    for level in _LEVELS:
        short = [_shorten(block, level, 0) for block in blocks]
        if _cost(short) <= budget:
            return TruncatedJson(tuple(short), shortened=short != list(blocks))
    fitting: list[Any] = []
    left = budget
    for block in (_shorten(block, _LEVELS[-1], 0) for block in blocks):
        left -= _cost([block])
        if left < 0 or budget < _MIN_BUDGET:
            break
        fitting.append(block)
    return TruncatedJson(tuple(fitting), shortened=True, left_out=len(blocks) - len(fitting))


def compact_json(data: Any) -> str:
    """Serialize to JSON without spaces."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def drop_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without those that are None, False, or an empty text, list or object."""
    return {name: value for name, value in fields.items() if value or type(value) is int}


def count_fitting(texts: Iterable[str], budget: int, extra_tokens: int) -> int:
    """Return how many of the first texts fit a token budget, each with some extra tokens."""
    totals = itertools.accumulate(token_estimate.estimate(text) + extra_tokens for text in texts)
    return sum(1 for _ in itertools.takewhile(lambda total: total <= budget, totals))


def _cost(blocks: Sequence[Any]) -> int:
    return sum(token_estimate.estimate(compact_json(block)) for block in blocks)


def _shorten(value: Any, bounds: tuple[int, int, int], depth: int) -> Any:
    chars, count, max_depth = bounds
    if isinstance(value, str):
        return truncate(value, chars)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= max_depth:
        return "…"
    if isinstance(value, dict):
        items = list(value.items())[:count]
        return {name[:chars]: _shorten(part, bounds, depth + 1) for name, part in items}
    return [_shorten(part, bounds, depth + 1) for part in value[:count]]
