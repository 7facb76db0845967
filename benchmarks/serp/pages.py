"""Load the saved result pages of the corpus `serp` with their gold rows."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from browsers.model import Snapshot

WITH_ROWS = frozenset({"results", "relaxed", "decoy"})

_CLASS = re.compile(r"""(\sclass\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class SavedRow:
    """One organic row of the gold; `agreed` is set if annotators and two parsers agree."""

    title: str
    url: str
    href: str
    snippet: str
    agreed: bool


@dataclass(frozen=True, slots=True)
class SerpPage:
    """One saved page."""

    name: str
    engine: str
    variant: str
    kind: str
    """`results`, `relaxed`, `decoy`, `none`, `wall`, `shell` or `consent`."""
    url: str
    query: str
    file: Path
    body: str
    rows: tuple[SavedRow, ...]
    ads: tuple[SavedRow, ...]
    scrubbed: bool
    """True if all links were replaced by the publisher: rows are compared by their titles."""

    def snapshot(self) -> Snapshot:
        """Return the page as the browser returns it."""
        media_type = "application/rss+xml" if self.file.suffix == ".xml" else "text/html"
        return Snapshot(self.url, self.url, 200, media_type=media_type, html=self.body)


def load(corpus: Path) -> list[SerpPage]:
    """Load all pages of the corpus."""
    lines = (corpus / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return [_page(corpus, json.loads(line)) for line in lines if line.strip()]


def rename_classes(page: SerpPage) -> SerpPage:
    """Return the page with every class renamed, always in the same way."""
    rng = random.Random(page.name)
    names: dict[str, str] = {}

    def replace_classes(match: re.Match[str]) -> str:
        old = match.group(2).strip("\"'").split()
        for name in old:
            names.setdefault(name, "".join(rng.choices(_LETTERS, k=8)))
        return f'{match.group(1)}"{" ".join(names[name] for name in old)}"'

    return replace(page, body=_CLASS.sub(replace_classes, page.body))


def _page(corpus: Path, gold: dict[str, Any]) -> SerpPage:
    file = corpus / gold["file"]
    return SerpPage(
        name=gold["id"],
        engine=gold["engine"],
        variant=gold.get("variant", ""),
        kind=gold["kind"],
        url=gold["page_url"],
        query=gold.get("query") or "",
        file=file,
        body=file.read_text(encoding="utf-8", errors="replace"),
        rows=_rows(gold.get("rows", ())),
        ads=_rows(gold.get("ads", ())),
        scrubbed=bool(gold.get("urls_scrubbed")),
    )


def _rows(rows: Sequence[dict[str, Any]]) -> tuple[SavedRow, ...]:
    return tuple(
        SavedRow(
            row.get("title") or "",
            row.get("url") or "",
            row.get("href") or "",
            row.get("snippet") or "",
            bool(row.get("agreed")),
        )
        for row in rows
    )
