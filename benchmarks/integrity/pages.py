"""Draw saved pages from the corpora."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from benchmarks.common.corpora import corpus_folder
from benchmarks.training.pages import read_text

MAX_SOURCE = 1_500_000
"""Bytes. Larger pages only cost time."""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page of a corpus."""

    name: str
    """Corpus and id."""
    url: str
    domain: str
    kind: str
    path: Path

    @property
    def size(self) -> int:
        """Bytes of the source."""
        return self.path.stat().st_size

    @property
    def html(self) -> str:
        """Source of the page."""
        return read_text(self.path)


def draw(corpora: Path, counts: Mapping[str, int], seed: int) -> list[SavedPage]:
    """Draw pages of each corpus, equally many of each type of page.

    Raises:
        FileNotFoundError: A corpus is missing.
    """
    drawn: list[SavedPage] = []
    for corpus, count in counts.items():
        rng = Random(f"{seed}-{corpus}")
        groups: dict[str, list[SavedPage]] = {}
        for page in _pages(corpus_folder(corpora, corpus), corpus):
            groups.setdefault(page.kind, []).append(page)
        for group in groups.values():
            rng.shuffle(group)
        turns = zip_longest(*(reversed(groups[kind]) for kind in sorted(groups)))
        drawn += [page for page in chain(*turns) if page is not None][:count]
    return drawn


def _pages(folder: Path, corpus: str) -> Iterator[SavedPage]:
    """Yield the pages of a corpus in a fixed order."""
    if (folder / "index.json").exists():
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        rows = [{"id": key, **row} for key, row in index.items()]
    else:
        rows = [json.loads(line) for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in sorted(rows, key=lambda row: str(row["id"])):
        path = folder / row.get("html", f"html/{row['id']}.html")
        url = row.get("url") or ""
        domain = row.get("domain") or urlsplit(url).hostname or str(row["id"])
        url = url if "://" in url else f"https://{url or domain}/"
        page = SavedPage(f"{corpus}/{row['id']}", url, domain, row.get("type") or "", path)
        if path.exists() and page.size <= MAX_SOURCE:
            yield page
