"""Render the answer of `extract_structured` within one token budget: facts, discussion, syntaxes and XHR data."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scraper.model import StructuredData
from scraper.render.json_truncation import TruncatedJson, compact_json, drop_empty, truncate_json
from scraper.render.page import BODY_BUDGET, characters_for
from scraper.render.untrusted_text import UNTRUSTED_NOTICE, display_url, full_url, mark_untrusted
from scraper.text.sanitize import clean_line

_SYNTAXES = ("json_ld", "microdata", "opengraph", "rdfa")
"""Fields of `StructuredData` with the blocks of one syntax, in the order of the answer."""

_FACTS = ("product", "recipe")
_MAX_URL = 2_000
_FACTS_SHARE = 0.5
_XHR_SHARE = 0.3
_HEADER_TOKENS = 150
_CHARACTERS_A_TOKEN = 4.2
"""Characters per token, to convert the character limit to tokens; the smaller limit applies."""

_NOTHING = "The page has no JSON-LD, microdata, OpenGraph or RDFa. `fetch` reads its text."


def as_markdown(data: StructuredData, requested: str, *, region: str, budget: int = BODY_BUDGET) -> str:
    """Return a header, then facts, discussion, blocks of each syntax and XHR data in an untrusted region."""
    facts, blocks = _divide_budget(data, budget)
    notes = _notes(data, blocks)
    url = display_url(data.url, requested=requested)
    header = [f"URL: {url} Method: browser", *(f"Warning: {note}" for note in notes)]
    sections = [f"Full URL: {full}"] if (full := full_url(data.url, url, _MAX_URL)) else []
    sections += [_facts_section(name, fields) for name, fields in facts.items()]
    for name in ("discussion", *_SYNTAXES, "xhr"):
        if blocks[name].blocks:
            sections.append("\n".join([f"## {name}", *map(_json_block, blocks[name].blocks)]))
    return "\n".join(header) + "\n" + mark_untrusted("\n\n".join(sections) or "(nothing)", region)


def as_json(data: StructuredData, *, budget: int = BODY_BUDGET) -> dict[str, object]:
    """Return the lists of all syntaxes; facts, `discussion`, `xhr` and `warnings` are set only if there are any."""
    facts, blocks = _divide_budget(data, budget)
    lists = {name: list(short.blocks) for name, short in blocks.items()}
    known = {"discussion": lists["discussion"], "xhr": lists["xhr"], "warnings": _notes(data, blocks)}
    answer = {"url": data.url, **{name: lists[name] for name in _SYNTAXES}, **facts}
    return {**answer, **drop_empty(known), "notice": UNTRUSTED_NOTICE}


def _divide_budget(data: StructuredData, budget: int) -> tuple[dict[str, Any], dict[str, TruncatedJson]]:
    """Divide the budget among facts and blocks; what small blocks leave goes to larger ones."""
    left = min(budget, int(characters_for(budget) / _CHARACTERS_A_TOKEN)) - _HEADER_TOKENS
    facts: dict[str, Any] = {}
    for name in _FACTS:
        fields = getattr(data, name)
        if fields:
            short = truncate_json([fields], int(left * _FACTS_SHARE))
            if short.blocks:
                facts[name] = short.blocks[0]
            left -= _size(short)
    blocks = {"discussion": truncate_json(data.discussion, int(left * _FACTS_SHARE))}
    left -= _size(blocks["discussion"])
    blocks["xhr"] = truncate_json(data.xhr, int(left * _XHR_SHARE))
    left -= _size(blocks["xhr"])
    by_size = sorted(_SYNTAXES, key=lambda name: len(compact_json(getattr(data, name))))
    for rank, name in enumerate(by_size):
        blocks[name] = truncate_json(getattr(data, name), max(0, left) // (len(by_size) - rank))
        left -= _size(blocks[name])
    return facts, blocks


def _size(short: TruncatedJson) -> int:
    return sum(len(compact_json(block)) for block in short.blocks) // 3


def _notes(data: StructuredData, blocks: Mapping[str, TruncatedJson]) -> list[str]:
    notes = [clean_line(warning, 300) for warning in data.warnings]
    shortened = [name for name, short in blocks.items() if short.shortened]
    if shortened:
        notes.append(f"Long texts and lists are shortened to fit: {', '.join(sorted(shortened))}.")
    left_out = {name: short.left_out for name, short in blocks.items() if short.left_out}
    notes += [f"{name}: {count} more blocks are left out." for name, count in left_out.items()]
    if not any(getattr(data, name) for name in (*_SYNTAXES, "xhr", "discussion", *_FACTS)):
        notes.append(_NOTHING)
    return notes


def _facts_section(name: str, facts: Mapping[str, Mapping[str, Any]]) -> str:
    evidence = {key: f"{fact['source']}, {fact['confidence']:.2g}" for key, fact in facts.items()}
    usual, _ = Counter(evidence.values()).most_common(1)[0]
    lines = [f"## {name} ({usual}, if not stated)"]
    for key, fact in facts.items():
        value = fact["value"]
        more = [
            f"{extra} {_as_text(part)}"
            for extra, part in fact.items()
            if extra not in ("value", "source", "confidence")
        ]
        notes = [*([] if evidence[key] == usual else [evidence[key]]), *more]
        note = f" ({', '.join(notes)})" if notes else ""
        if isinstance(value, list):
            lines += [f"- {key}:{note}", *(f"    - {_as_text(part)}" for part in value)]
        else:
            lines.append(f"- {key}: {_as_text(value)}{note}")
    return "\n".join(lines)


def _as_text(value: Any) -> str:
    return clean_line(value, _MAX_URL) if isinstance(value, str) else compact_json(value)


def _json_block(block: Any) -> str:
    """Return JSON with one line per top-level key, which takes fewer tokens than full indentation."""
    text = compact_json(block)
    if isinstance(block, dict):
        rows = [f"  {json.dumps(name, ensure_ascii=False)}: {compact_json(part)}" for name, part in block.items()]
        text = "{\n" + ",\n".join(rows) + "\n}"
    return f"```json\n{text}\n```"
