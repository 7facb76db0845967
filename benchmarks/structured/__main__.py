"""Compare structured data of saved product and recipe pages with extruct alone: facts, raw lists and cost.

`lost` counts the fields that are right in extruct's data and not in ours, in the facts or in the raw lists.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import extruct

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.structured import raw_syntaxes as plain
from benchmarks.structured import score
from benchmarks.structured.pages import SavedPage, saved_pages
from scraper.facts import structured
from scraper.model import StructuredData

_SYNTAXES = ("json_ld", "microdata", "opengraph", "rdfa")
_METHODS = ("ours", "ours, lists", "extruct")
_QUICK_STEP = 5
_SURE, _SAME = 0.9, 0.95
"""Confidence of values that must be right nine times in ten, and similarity from which a text counts as right."""
_MIN_LOSS = 0.001
"""Minimum difference that counts as a loss; smaller ones come from a space or an entity."""

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
    Goal("structured.sure_right", at_least=0.9),
)


@dataclass(frozen=True, slots=True)
class _Found:
    """Facts and CPU seconds by method for a page, and our facts with their sources."""

    facts: Mapping[str, Mapping[str, Any]]
    seconds: Mapping[str, float]
    stated: Mapping[str, Mapping[str, Any]]


async def measure(options: Options) -> Figures:
    """Read every page with every method.

    Raises:
        FileNotFoundError: a corpus is missing.
    """
    if options.corpora is None:
        raise FileNotFoundError("Name the folder that contains recipes/ and products/: --corpora DIR.")
    figures: Figures = {}
    by_confidence: dict[float, list[bool]] = defaultdict(list)
    for kind, work in (("recipes", _recipes), ("products", _products)):
        pages = await asyncio.to_thread(saved_pages, options.corpora, kind, _QUICK_STEP if options.quick else 1)
        structured.extract(pages[0].snapshot())  # warm-up: load data before the measurement
        found = [_read(page, kind) for page in pages]
        figures |= work(pages, found) | _costs(kind, found)
        _rate_confidences(kind, pages, found, by_confidence)
    print_table(
        "Values by confidence",
        ("confidence", "values", "share right"),
        [(one, len(by_confidence[one]), fmean(by_confidence[one])) for one in sorted(by_confidence)],
    )
    sure = [is_right for one, verdicts in by_confidence.items() if one >= _SURE for is_right in verdicts]
    figures["structured.sure_right"] = fmean(sure)
    print_goals(figures, _GOALS)
    return figures


def _rate_confidences(
    kind: str, pages: Sequence[SavedPage], found: Sequence[_Found], rated: dict[float, list[bool]]
) -> None:
    """Add for each value with gold whether it is right, by its confidence; images have no unique gold."""
    fields = score.PRODUCT_FIELDS if kind == "products" else score.RECIPE_FIELDS
    for page, one in zip(pages, found, strict=True):
        gold = {**page.gold, "instructions": page.gold.get("instructions_list")}
        for field in fields:
            if field == "image" or field not in one.stated or gold.get(field) in (None, "", [], {}):
                continue
            value = one.stated[field]["value"]
            is_right = (
                score.judge(field, gold[field], value) == "right"
                if kind == "products"
                else score.similarity(field, gold[field], value) >= _SAME
            )
            rated[one.stated[field]["confidence"]].append(is_right)


def _read(page: SavedPage, kind: str) -> _Found:
    ours, our_s = _time(lambda: structured.extract(page.snapshot()))
    theirs, their_s = _time(lambda: _read_with_extruct(page))
    stated = (ours.recipe if kind == "recipes" else ours.product) or {}
    read: Callable[[plain.Lists], dict[str, Any]] = plain.recipe if kind == "recipes" else plain.product
    facts = {
        "ours": {name: fact["value"] for name, fact in stated.items()},
        "ours, lists": read(_lists(ours)),
        "extruct": read(theirs),
    }
    return _Found(facts, {"ours": our_s, "extruct": their_s}, stated)


def _time(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _read_with_extruct(page: SavedPage) -> plain.Lists:
    found = extruct.extract(
        page.html, base_url=page.url, errors="ignore", syntaxes=["json-ld", "microdata", "opengraph", "rdfa"]
    )
    return {name.replace("-", "_"): values for name, values in found.items()}


def _lists(found: StructuredData) -> plain.Lists:
    return {name: getattr(found, name) for name in _SYNTAXES}


def _recipes(pages: Sequence[SavedPage], found: Sequence[_Found]) -> Figures:
    scores: dict[str, dict[str, list[float]]] = {method: defaultdict(list) for method in _METHODS}
    lost: dict[str, list[str]] = {method: [] for method in _METHODS[:2]}
    for page, one in zip(pages, found, strict=True):
        gold = {**page.gold, "instructions": page.gold.get("instructions_list")}
        for field in score.RECIPE_FIELDS:
            if gold.get(field) in (None, "", [], {}):
                continue
            got = {method: score.similarity(field, gold[field], one.facts[method].get(field)) for method in _METHODS}
            for method in _METHODS:
                scores[method][field].append(got[method])
            for method in lost:
                if got[method] < got["extruct"] - _MIN_LOSS:
                    lost[method].append(f"{page.name} {field}")
    return _print_results(
        "recipes", score.RECIPE_FIELDS, {method: _means(scores[method]) for method in _METHODS}, lost, len(pages)
    )


def _products(pages: Sequence[SavedPage], found: Sequence[_Found]) -> Figures:
    verdicts: dict[str, dict[str, list[str]]] = {method: defaultdict(list) for method in _METHODS}
    visible_verdicts: list[str] = []
    lost: dict[str, list[str]] = {method: [] for method in _METHODS[:2]}
    sources: dict[str, Counter[str]] = defaultdict(Counter)
    for page, one in zip(pages, found, strict=True):
        for field in score.PRODUCT_FIELDS:
            got = {
                method: score.judge(field, page.gold.get(field), one.facts[method].get(field)) for method in _METHODS
            }
            for method, verdict in got.items():
                if verdict:
                    verdicts[method][field].append(verdict)
            lost_here = (method for method in lost if got["extruct"] == "right" != got[method])
            for method in lost_here:
                lost[method].append(f"{page.name} {field}")
            if field in one.stated:
                sources[f"{field} from {one.stated[field]['source']}"][got["ours"] or ""] += 1
        currency = one.stated.get("currency", {})
        verdict = score.judge("currency", page.gold.get("currency"), currency.get("value"), currency.get("sign"))
        visible_verdicts += [verdict] if verdict else []
    means = {
        method: {field: score.f1(field, values) for field, values in verdicts[method].items()} for method in _METHODS
    }
    figures = _print_results("products", score.PRODUCT_FIELDS, means, lost, len(pages))
    figures["products.currency_as_shown"] = score.f1("currency", visible_verdicts)
    print(f"currency, also counting the visible sign: {figures['products.currency_as_shown']:.3f}")
    _print_sources(sources)
    return figures


def _means(scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {field: fmean(values) for field, values in scores.items()}


def _print_results(
    kind: str,
    fields: Iterable[str],
    means: Mapping[str, Mapping[str, float]],
    lost: Mapping[str, Sequence[str]],
    pages: int,
) -> Figures:
    """Print one table; return our figures, and those of extruct under its name."""
    rows = [(field, *(means[method].get(field) for method in _METHODS)) for field in fields]
    print_table(f"{kind}: {pages} pages", ("field", *_METHODS), rows)
    for method, fields_lost in lost.items():
        print(f"{method}: {len(fields_lost)} fields lost compared with extruct: {', '.join(fields_lost)}")
    figures = {f"{kind}.{field}": value for field, value in means["ours"].items()}
    figures |= {f"extruct.{kind}.{field}": value for field, value in means["extruct"].items()}
    figures[f"{kind}.lost.facts"] = len(lost["ours"])
    figures[f"{kind}.lost.lists"] = len(lost["ours, lists"])
    figures[f"{kind}.lost"] = sum(map(len, lost.values()))
    return figures


def _print_sources(sources: Mapping[str, Counter[str]]) -> None:
    """Print how often each source is right, the basis of the confidences."""
    rows = [
        (name, count["right"], count["wrong"], count["extra"], count["right"] / max(1, count["right"] + count["wrong"]))
        for name, count in sorted(sources.items())
    ]
    print_table("Our facts by source", ("fact", "right", "wrong", "not in gold", "share right"), rows)


def _costs(kind: str, found: Sequence[_Found]) -> Figures:
    figures: Figures = {}
    for method in ("ours", "extruct"):
        times = sorted(one.seconds[method] * 1000 for one in found)
        prefix = f"{kind}.cpu_ms" if method == "ours" else f"extruct.{kind}.cpu_ms"
        figures[f"{prefix}.median"] = times[len(times) // 2]
        figures[f"{prefix}.mean"] = fmean(times)
        figures[f"{prefix}.p95"] = times[int(len(times) * 0.95)]
    print_table(f"{kind}: CPU ms per page", ("figure", "ms"), figures.items())
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
