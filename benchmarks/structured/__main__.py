"""Structured data of saved product and recipe pages: our facts and lists beside extruct alone, with its cost.

`lost` counts the fields that extruct's data hold right and ours do not, in the facts or in the raw lists.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import extruct

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.corpora import corpus_folder
from benchmarks.structured import raw_syntaxes as plain
from benchmarks.structured import score
from browsers.model import Snapshot
from scraper.extract import structured
from scraper.model import StructuredData

_SYNTAXES = ("json_ld", "microdata", "opengraph", "rdfa")
_WAYS = ("ours", "ours, lists", "extruct")
_QUICK_STEP = 5
_LEAST_LOSS = 0.001
"""Below, a text differs by a space or an entity."""

_GOALS = (
    Goal("recipes.title", at_least=0.98),
    Goal("recipes.ingredients", at_least=0.93),
    Goal("recipes.instructions", at_least=0.92),
    Goal("recipes.total_time", at_least=0.93),
    Goal("recipes.lost", at_most=0),
    Goal("products.price", at_least=0.86),
    Goal("products.currency", at_least=0.84),
    Goal("products.availability", at_least=0.90),
    Goal("products.sku", at_least=0.82),
    Goal("products.brand", at_least=0.86),
    Goal("products.lost", at_most=0),
)


@dataclass(frozen=True, slots=True)
class _Page:
    name: str
    url: str
    html: str
    gold: Mapping[str, Any]

    def snapshot(self) -> Snapshot:
        """Return the page as a snapshot."""
        return Snapshot(self.url, self.url, 200, {}, "text/html", html=self.html)


@dataclass(frozen=True, slots=True)
class _Found:
    """What each way made of a page, the CPU seconds it took, and our facts with their sources."""

    facts: Mapping[str, Mapping[str, Any]]
    seconds: Mapping[str, float]
    stated: Mapping[str, Mapping[str, Any]]


async def measure(options: Options) -> Figures:
    """Read every page in every way.

    Raises:
        FileNotFoundError: a corpus is not there.
    """
    if options.corpora is None:
        raise FileNotFoundError("Say with --corpora where the folders recipes/ and products/ are.")
    figures: Figures = {}
    for kind, work in (("recipes", _recipes), ("products", _products)):
        pages = await asyncio.to_thread(_pages, corpus_folder(options.corpora, kind), options.quick)
        structured.extract(pages[0].snapshot())  # what is loaded once is not a page's cost
        found = [_read(page, kind) for page in pages]
        figures |= work(pages, found) | _costs(kind, found)
    print_goals(figures, _GOALS)
    return figures


def _pages(folder: Path, quick: bool) -> list[_Page]:
    rows = [json.loads(row) for row in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines()]
    return [_page(folder, row) for row in rows[:: _QUICK_STEP if quick else 1]]


def _page(folder: Path, row: Mapping[str, str]) -> _Page:
    url = row["url"] if "://" in row["url"] else f"https://{row['url']}/"
    html = (folder / row["html"]).read_text(encoding="utf-8", errors="replace")
    return _Page(row["id"], url, html, json.loads((folder / row["gold"]).read_text(encoding="utf-8")))


def _read(page: _Page, kind: str) -> _Found:
    ours, our_s = _timed(lambda: structured.extract(page.snapshot()))
    theirs, their_s = _timed(lambda: _by_extruct(page))
    stated = (ours.recipe if kind == "recipes" else ours.product) or {}
    read: Callable[[plain.Lists], dict[str, Any]] = plain.recipe if kind == "recipes" else plain.product
    facts = {
        "ours": {name: fact["value"] for name, fact in stated.items()},
        "ours, lists": read(_lists(ours)),
        "extruct": read(theirs),
    }
    return _Found(facts, {"ours": our_s, "extruct": their_s}, stated)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _by_extruct(page: _Page) -> plain.Lists:
    found = extruct.extract(
        page.html, base_url=page.url, errors="ignore", syntaxes=["json-ld", "microdata", "opengraph", "rdfa"]
    )
    return {name.replace("-", "_"): values for name, values in found.items()}


def _lists(found: StructuredData) -> plain.Lists:
    return {name: getattr(found, name) for name in _SYNTAXES}


def _recipes(pages: Sequence[_Page], found: Sequence[_Found]) -> Figures:
    scores: dict[str, dict[str, list[float]]] = {way: defaultdict(list) for way in _WAYS}
    lost: dict[str, list[str]] = {way: [] for way in _WAYS[:2]}
    for page, one in zip(pages, found, strict=True):
        gold = {**page.gold, "instructions": page.gold.get("instructions_list")}
        for field in score.RECIPE_FIELDS:
            if gold.get(field) in (None, "", [], {}):
                continue
            got = {way: score.likeness(field, gold[field], one.facts[way].get(field)) for way in _WAYS}
            for way in _WAYS:
                scores[way][field].append(got[way])
            for way in lost:
                if got[way] < got["extruct"] - _LEAST_LOSS:
                    lost[way].append(f"{page.name} {field}")
    return _told("recipes", score.RECIPE_FIELDS, {way: _means(scores[way]) for way in _WAYS}, lost, len(pages))


def _products(pages: Sequence[_Page], found: Sequence[_Found]) -> Figures:
    verdicts: dict[str, dict[str, list[str]]] = {way: defaultdict(list) for way in _WAYS}
    shown: list[str] = []
    lost: dict[str, list[str]] = {way: [] for way in _WAYS[:2]}
    sources: dict[str, Counter[str]] = defaultdict(Counter)
    for page, one in zip(pages, found, strict=True):
        for field in score.PRODUCT_FIELDS:
            got = {way: score.judged(field, page.gold.get(field), one.facts[way].get(field)) for way in _WAYS}
            for way, verdict in got.items():
                if verdict:
                    verdicts[way][field].append(verdict)
            lost_here = (way for way in lost if got["extruct"] == "right" != got[way])
            for way in lost_here:
                lost[way].append(f"{page.name} {field}")
            if field in one.stated:
                sources[f"{field} from {one.stated[field]['source']}"][got["ours"] or ""] += 1
        currency = one.stated.get("currency", {})
        verdict = score.judged("currency", page.gold.get("currency"), currency.get("value"), currency.get("sign"))
        shown += [verdict] if verdict else []
    means = {way: {field: score.f1(field, told) for field, told in verdicts[way].items()} for way in _WAYS}
    figures = _told("products", score.PRODUCT_FIELDS, means, lost, len(pages))
    figures["products.currency_as_shown"] = score.f1("currency", shown)
    print(f"currency, its sign as the page shows it counted too: {figures['products.currency_as_shown']:.3f}")
    _print_sources(sources)
    return figures


def _means(scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {field: fmean(values) for field, values in scores.items()}


def _told(
    kind: str,
    fields: Iterable[str],
    means: Mapping[str, Mapping[str, float]],
    lost: Mapping[str, Sequence[str]],
    pages: int,
) -> Figures:
    """Print one table; the figures of ours, extruct's under its own name."""
    rows = [(field, *(means[way].get(field) for way in _WAYS)) for field in fields]
    print_table(f"{kind}: {pages} pages", ("field", *_WAYS), rows)
    for way, places in lost.items():
        print(f"{way}: {len(places)} fields lost beside extruct {', '.join(places)}")
    figures = {f"{kind}.{field}": value for field, value in means["ours"].items()}
    figures |= {f"extruct.{kind}.{field}": value for field, value in means["extruct"].items()}
    figures[f"{kind}.lost.facts"] = len(lost["ours"])
    figures[f"{kind}.lost.lists"] = len(lost["ours, lists"])
    figures[f"{kind}.lost"] = sum(map(len, lost.values()))
    return figures


def _print_sources(sources: Mapping[str, Counter[str]]) -> None:
    """How often each source is right: what the confidences rest on."""
    rows = [
        (name, count["right"], count["wrong"], count["extra"], count["right"] / max(1, count["right"] + count["wrong"]))
        for name, count in sorted(sources.items())
    ]
    print_table("Our facts by source", ("fact", "right", "wrong", "not in gold", "share right"), rows)


def _costs(kind: str, found: Sequence[_Found]) -> Figures:
    figures: Figures = {}
    for way in ("ours", "extruct"):
        taken = sorted(one.seconds[way] * 1000 for one in found)
        prefix = f"{kind}.cpu_ms" if way == "ours" else f"extruct.{kind}.cpu_ms"
        figures[f"{prefix}.median"] = taken[len(taken) // 2]
        figures[f"{prefix}.mean"] = fmean(taken)
        figures[f"{prefix}.p95"] = taken[int(len(taken) * 0.95)]
    print_table(f"{kind}: CPU ms a page", ("figure", "ms"), figures.items())
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
