"""Pages with gold texts, from the delivered archives."""

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
    """One page and what a reader should give of it."""

    id: str
    source: str
    domain: str
    """Pages of one domain never stand on both sides of a fold."""
    page_type: str
    language: str
    url: str
    html: str
    gold: str
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    """Where there is no gold text: phrases that are in it, and phrases that are not."""
    origin: str = ""
    """The project whose page it is, as the archive calls it."""

    @property
    def main(self) -> bool:
        """Whether it counts in the score; the other pages are there to learn from."""
        return self.source == _MAIN


def samples(corpora: Path, source: str) -> Iterator[Sample]:
    """The pages of one archive, in a fixed order."""
    folder = corpus_folder(corpora, source)
    return _of_the_benchmark(folder) if source == _MAIN else _of_the_others(folder, source)


def _of_the_benchmark(folder: Path) -> Iterator[Sample]:
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
            html=_text(folder / "html" / f"{key}.html"),
            gold=gold.get("main_content") or "",
        )


def _of_the_others(folder: Path, source: str) -> Iterator[Sample]:
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
            html=_text(folder / row["html"]),
            gold=str(gold.get("text") or ""),
            wanted=tuple(gold.get("with") or ()),
            unwanted=tuple(gold.get("without") or ()),
            origin=row.get("source") or "",
        )


def _gold(path: Path) -> dict[str, Any]:
    return _json(path) if path.suffix == ".json" else {"text": _text(path)}


def _json(path: Path) -> Any:
    return json.loads(_text(path))


_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)


def _text(path: Path) -> str:
    """A file as text: UTF-8, or what it says of itself."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        declared = _CHARSET.search(data[:4_096])
        try:
            return data.decode(declared[1].decode() if declared else "utf-8", "replace")
        except LookupError:
            return data.decode("utf-8", "replace")
