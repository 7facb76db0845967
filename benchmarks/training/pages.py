"""Read pages and their gold texts from the corpus archives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.common.corpora import corpus_folder

_MAIN = "wcxb"
SOURCES = (_MAIN, "pages-lang", "extra-pages")


@dataclass(frozen=True, slots=True)
class Sample:
    """Page, and the text that a reader should extract."""

    id: str
    source: str
    domain: str
    """Domain. All pages of a domain belong to the same fold."""
    page_type: str
    language: str
    url: str
    html: str
    gold: str
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    """Phrases for pages without a gold text: the content holds those of `wanted` and not those of
    `unwanted`."""
    origin: str = ""
    """Project of the page, as named in the archive."""

    @property
    def main(self) -> bool:
        """Return True if the page counts in the score; the other pages are only for training."""
        return self.source == _MAIN


def samples(corpora: Path, source: str) -> Iterator[Sample]:
    """Yield the pages of one archive in a fixed order."""
    folder = corpus_folder(corpora, source)
    return _wcxb_samples(folder) if source == _MAIN else _other_samples(folder, source)


def _wcxb_samples(folder: Path) -> Iterator[Sample]:
    index = _json(folder / "index.json")
    for key in sorted(index):
        facts, gold = index[key], _json(folder / "gold" / f"{key}.json")["ground_truth"]
        yield Sample(
            id=key,
            source=_MAIN,
            domain=facts["domain"],
            page_type=facts["type"],
            language="",
            url=facts["url"],
            html=read_text(folder / "html" / f"{key}.html"),
            gold=gold.get("main_content") or "",
        )


def _other_samples(folder: Path, source: str) -> Iterator[Sample]:
    with (folder / "index.jsonl").open(encoding="utf-8") as lines:
        rows = sorted((json.loads(line) for line in lines), key=lambda row: str(row["id"]))
    for row in rows:
        gold = _gold(folder / row["gold"])
        yield Sample(
            id=row["id"],
            source=source,
            domain=row.get("domain") or urlsplit(row["url"] or "").hostname or row["id"],
            page_type=row.get("type") or "article",
            language=row.get("lang") or "",
            url=row["url"] or "",
            html=read_text(folder / row["html"]),
            gold=str(gold.get("text") or ""),
            wanted=tuple(gold.get("with") or ()),
            unwanted=tuple(gold.get("without") or ()),
            origin=row.get("source") or "",
        )


def _gold(path: Path) -> dict[str, Any]:
    return _json(path) if path.suffix == ".json" else {"text": read_text(path)}


def _json(path: Path) -> Any:
    return json.loads(read_text(path))


_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)


def read_text(path: Path) -> str:
    """Decode a file as UTF-8, or in the charset that it declares."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        declared = _CHARSET.search(data[:4_096])
        try:
            return data.decode(declared[1].decode() if declared else "utf-8", "replace")
        except LookupError:
            return data.decode("utf-8", "replace")
