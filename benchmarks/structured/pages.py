"""Read the saved pages of products and recipes with their gold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.corpora import corpus_folder
from browsers.model import Snapshot


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page and the gold of its facts."""

    name: str
    url: str
    html: str
    gold: Mapping[str, Any]

    def snapshot(self) -> Snapshot:
        """Return the page as a snapshot."""
        return Snapshot(self.url, self.url, 200, {}, "text/html", html=self.html)


def saved_pages(corpora: Path, kind: str, step: int = 1) -> list[SavedPage]:
    """Return every `step`-th page of `products` or `recipes`."""
    folder = corpus_folder(corpora, kind)
    rows = [json.loads(row) for row in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines()]
    return [_page(folder, row) for row in rows[::step]]


def _page(folder: Path, row: Mapping[str, str]) -> SavedPage:
    url = row["url"] if "://" in row["url"] else f"https://{row['url']}/"
    html = (folder / row["html"]).read_text(encoding="utf-8", errors="replace")
    return SavedPage(row["id"], url, html, json.loads((folder / row["gold"]).read_text(encoding="utf-8")))
