"""Pages of the two Markdown corpora with their gold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lxml.html

from benchmarks.common.corpora import corpus_folder
from benchmarks.markdown.score import Gold, gold_from_json, gold_from_markdown

SETS = ("documentation", "fixtures", "main")
"""Content elements of documentation pages; whole difficult pages; hand-marked main parts of other pages."""

_CHARSET = re.compile(rb"charset=[\"']?([\w-]+)", re.IGNORECASE)
_HEAD = 3_000


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    """A page and its gold."""

    id: str
    url: str
    html: str
    gold: Gold
    stem: str
    """Generator or subset of the page."""


def pages(corpora: Path, kind: str) -> Iterator[MarkdownPage]:
    """Return the pages of one set, in a fixed order."""
    folder = corpus_folder(corpora, "markdown" if kind == "documentation" else "markdown-hard")
    for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        html = _html_of(folder, row, kind)
        if html is not None:
            path = folder / row["gold"]
            gold = gold_from_json(path) if path.suffix == ".json" else gold_from_markdown(path)
            yield MarkdownPage(row["id"], row["url"], html, gold, row.get("generator") or row["subset"])


def _html_of(folder: Path, row: dict[str, str], kind: str) -> str | None:
    if kind == "documentation":
        return _content_element(_read(folder / row["html"]), row["container"])
    if kind == "fixtures":
        return _read(folder / row["html"]) if row["subset"] == "fixtures" else None
    if row["subset"] != "llm-webkit" or not row.get("main"):
        return None
    return f"<html><body>{_read(folder / row['main'])}</body></html>"


def _content_element(html: str, selector: str) -> str:
    parser = lxml.html.HTMLParser(encoding="utf-8")
    page = lxml.html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)
    element = page.cssselect(selector)[0]
    element.tail = None
    return f"<html><body>{lxml.html.tostring(element, encoding='unicode')}</body></html>"


def _read(path: Path) -> str:
    data = path.read_bytes()
    declared = _CHARSET.search(data[:_HEAD])
    for name in ([declared.group(1).decode()] if declared else []) + ["utf-8"]:
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("utf-8", "replace")
