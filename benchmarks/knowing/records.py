"""Measure records and columns on saved lists: F1 of the best rated list and of any of five.

`records.columns.price` compares prices with the annotations, `price_corrected` with those of `corrections.toml`.
"""

from __future__ import annotations

import json
import re
import statistics
import time
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures
from benchmarks.common.corpora import corpus_folder
from browsers.model import Snapshot
from scraper.facts.fields.model import MIN_RECORDS
from scraper.facts.fields.record_columns import read_rows
from scraper.facts.fields.record_lists import RecordList, find_lists
from scraper.facts.fields.text_leaves import ElementTexts
from scraper.html.page import page_tree
from scraper.text.sanitize import name_key

_SCRIPT = re.compile(r"<script[^>]*>.*?</script>", re.DOTALL | re.IGNORECASE)
_URL = "http://page.example/"
_MIN_RESULTS = 5
_RESULT_PAGES = frozenset({"results", "decoy", "relaxed"})
_CORRECTIONS = Path(__file__).with_name("corrections.toml")


@dataclass(frozen=True, slots=True)
class ListPage:
    """A saved page with the rows of its list."""

    group: str
    """`main`: the page is about the list, `side`: the list is beside an article, `serp`: result page."""
    file: Path
    rows: Sequence[Mapping[str, str]]


def saved_page(html: str) -> ElementTexts:
    """Return the texts of a saved page."""
    return ElementTexts(page_tree.build_page_tree(Snapshot(_URL, _URL, 200, html=html, rendered=True)))


def measure(corpora: Path, *, quick: bool) -> Figures:
    """Return the figures `records.*` of all lists, or of a sixth of them."""
    pages = list_pages(corpora)[:: 6 if quick else 1]
    scores: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    columns: defaultdict[str, list[bool]] = defaultdict(list)
    seconds = 0.0
    for one in pages:
        html = _SCRIPT.sub("", one.file.read_text(encoding="utf-8", errors="replace"))
        began = time.process_time()
        page = saved_page(html)
        lists = find_lists(page)
        rows = read_rows(page, lists[0]) if lists else []
        seconds += time.process_time() - began
        matches = [_match(page, found, one.rows) for found in lists] or [(0, 0.0)]
        best = max(range(len(matches)), key=lambda at: matches[at][0])
        scores[one.group].append((matches[0][1], matches[best][1]))
        if matches[best][0] >= MIN_RECORDS:
            rows = rows if best == 0 else read_rows(page, lists[best])
            _score_columns(page, lists[best], rows, one, columns)
    figures: Figures = {"records.ms": round(1_000 * seconds / len(pages), 1)}
    for group, values in sorted(scores.items()):
        figures[f"records.{group}.first.f1"] = round(statistics.fmean(first for first, _ in values), 3)
        figures[f"records.{group}.any.f1"] = round(statistics.fmean(found for _, found in values), 3)
    for name, hits in sorted(columns.items()):
        figures[f"records.columns.{name}"] = round(statistics.fmean(hits), 3)
    return figures


def list_pages(corpora: Path) -> list[ListPage]:
    """Return the saved pages of both corpora, each once."""
    pages: dict[Path, ListPage] = {}
    corrected = {page["id"]: page["prices"] for page in tomllib.loads(_CORRECTIONS.read_text("utf-8"))["pages"]}
    for line in (corpus_folder(corpora, "knowing-lists") / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        gold = json.loads(line)
        corpus, name = gold["id"].split("/", 1)
        file = corpus_folder(corpora, corpus) / "html" / f"{name}.html"
        is_main = gold.get("type") in ("listing", "collection")
        rows = gold["rows"]
        if gold["id"] in corrected:
            rows = [{**row, "corrected": price} for row, price in zip(rows, corrected[gold["id"]], strict=True)]
        pages.setdefault(file, ListPage("main" if is_main else "side", file, rows))
    folder = corpus_folder(corpora, "serp")
    for line in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        gold = json.loads(line)
        rows = gold.get("rows", [])
        if gold["kind"] in _RESULT_PAGES and len(rows) >= _MIN_RESULTS and gold.get("variant") != "rss":
            file = folder / "pages" / Path(gold["file"]).name
            pages.setdefault(
                file, ListPage("serp", file, [{**row, "url": row.get("href") or row["url"]} for row in rows])
            )
    return [page for page in pages.values() if page.file.is_file()]


def _texts(page: ElementTexts, found: RecordList) -> list[str]:
    return [name_key(" ".join(map(page.text, record))) for record in found.records]


def _match(page: ElementTexts, found: RecordList, rows: Sequence[Mapping[str, str]]) -> tuple[int, float]:
    """Return the number of rows with a record of their own, and F1."""
    texts = _texts(page, found)
    wanted = list(dict.fromkeys(filter(None, (name_key(row["title"]) for row in rows))))
    used: set[int] = set()
    for title in wanted:
        for at, text in enumerate(texts):
            others = (other for other in wanted if other not in title and title not in other)
            if at not in used and title in text and not any(other in text for other in others):
                used.add(at)
                break
    return len(used), 2 * len(used) / max(1, len(wanted) + len(texts))


def _score_columns(
    page: ElementTexts,
    found: RecordList,
    rows: Sequence[Mapping[str, str]],
    one: ListPage,
    columns: defaultdict[str, list[bool]],
) -> None:
    """Add whether each column of each row is that of the gold."""
    prefix = "serp." if one.group == "serp" else ""
    by_text = list(zip(rows, _texts(page, found), strict=True))
    for gold in one.rows:
        title = name_key(gold["title"])
        matching = [row for row, text in by_text if title in text]
        if not matching:
            continue
        # Several products may have the same title.
        target = _last_part(gold.get("url", ""))
        row = next((row for row in matching if _last_part(row.get("url", "")) == target), matching[0])
        columns[f"{prefix}title"].append(name_key(row.get("title", "")) == title)
        if gold.get("url"):
            columns[f"{prefix}url"].append(_last_part(row.get("url", "")) == _last_part(gold["url"]))
        if gold.get("price"):
            price = _digits(row.get("price", ""))
            columns["price"].append(price == _digits(gold["price"]))
            columns["price_corrected"].append(price == _digits(gold.get("corrected", gold["price"])))
        if len(gold.get("snippet", "")) > 40:
            wanted, seen = (set(re.findall(r"\w+", text.lower())) for text in (gold["snippet"], row.get("text", "")))
            columns["snippet"].append(len(wanted & seen) >= 0.6 * min(len(wanted), max(1, len(seen))))


def _last_part(url: str) -> str:
    return url.partition("#")[0].rstrip("/").rpartition("/")[2]


def _digits(price: str) -> str:
    """Return the digits of an amount without zeros at the end, so that 12 equals 12.00."""
    amount = re.search(r"\d[\d.,\s]*", price)
    return re.sub(r"\D", "", amount[0]).rstrip("0") if amount else ""
