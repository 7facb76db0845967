"""Nested data made to fit a budget of tokens: texts and lists are shortened before anything is dropped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scraper.extract.text import token_estimate


@dataclass(frozen=True, slots=True)
class TruncatedJson:
    """Blocks that fit; `shortened`: texts or lists in them were cut; `left_out`: blocks that had no room."""

    blocks: tuple[Any, ...]
    shortened: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Bounds:
    text: int
    items: int
    depth: int


_LEVELS = (
    _Bounds(600, 200, 20),
    _Bounds(300, 40, 12),
    _Bounds(160, 12, 8),
    _Bounds(80, 5, 6),
)
"""From next to nothing cut to the bones. What readers want are prices and dates, not article bodies."""

_NO_ROOM = 20
"""Tokens below which no block says anything."""


def fitted(blocks: Sequence[Any], budget: int) -> TruncatedJson:
    """The blocks within so many tokens, at the mildest level at which all fit; else the first ones."""
    for level in _LEVELS:
        short = [_short(block, level, 0) for block in blocks]
        if _cost(short) <= budget:
            return TruncatedJson(tuple(short), shortened=short != list(blocks))
    kept: list[Any] = []
    left = budget
    for block in (_short(block, _LEVELS[-1], 0) for block in blocks):
        left -= _cost([block])
        if left < 0 or budget < _NO_ROOM:
            break
        kept.append(block)
    return TruncatedJson(tuple(kept), shortened=True, left_out=len(blocks) - len(kept))


def compact(data: Any) -> str:
    """JSON without a character too many."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _cost(blocks: Sequence[Any]) -> int:
    return sum(token_estimate.estimate(compact(block)) for block in blocks)


def _short(value: Any, bounds: _Bounds, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= bounds.text else value[: bounds.text - 1].rstrip() + "…"
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= bounds.depth:
        return "…"
    if isinstance(value, dict):
        kept = list(value.items())[: bounds.items]
        return {name[: bounds.text]: _short(part, bounds, depth + 1) for name, part in kept}
    return [_short(part, bounds, depth + 1) for part in value[: bounds.items]]
