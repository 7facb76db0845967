"""Shorten JSON data to a token budget: first cut texts and lists, then drop blocks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class _Bounds:
    text: int
    items: int
    depth: int


_LEVELS = (_Bounds(600, 200, 20), _Bounds(300, 40, 12), _Bounds(160, 12, 8), _Bounds(80, 5, 6))
"""Limits from mild to strict. Readers need prices and dates, not article bodies."""

_MIN_BUDGET = 20
"""Tokens. With a smaller budget, all blocks are dropped unless they all fit."""


def truncate_json(blocks: Sequence[Any], budget: int) -> TruncatedJson:
    """Return the blocks within a token budget.

    All blocks are shortened with the mildest limits that make them fit. If no limits do, the last blocks are dropped.
    """
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


def _cost(blocks: Sequence[Any]) -> int:
    return sum(token_estimate.estimate(compact_json(block)) for block in blocks)


def _shorten(value: Any, bounds: _Bounds, depth: int) -> Any:
    if isinstance(value, str):
        return truncate(value, bounds.text)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= bounds.depth:
        return "…"
    if isinstance(value, dict):
        items = list(value.items())[: bounds.items]
        return {name[: bounds.text]: _shorten(part, bounds, depth + 1) for name, part in items}
    return [_shorten(part, bounds, depth + 1) for part in value[: bounds.items]]
