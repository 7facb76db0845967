"""Rate comparisons of pages: real pairs with known changes, and pages with made noise and edits."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.site.page_noise import EDITS, add_noise, edit_page
from browsers.model import Snapshot
from scraper.extract.reader import read
from scraper.site.model import BlockChange
from scraper.site.page_change_tracker import compare_readings
from scraper.site.page_changes import PageComparison, compare_pages

NOISY_PAGES = 12
_MOMENTS = (1_000, 2_000, 3_000, 4_000)
"""Seeds of the moments at which a page is read: before, after, and twice more if in doubt."""
_SIMILAR, _CONTAINED = 0.5, 0.85


@dataclass(slots=True)
class ChangeFigures:
    """Counts over all pairs."""

    unchanged: int = 0
    false_alarms: int = 0
    changed: int = 0
    found: int = 0
    predicted_blocks: int = 0
    correct_blocks: int = 0
    gold_blocks: int = 0
    found_blocks: int = 0
    sorted_alarms: int = 0
    sorted_found: int = 0
    seconds: float = 0.0


def rate_pairs(folder: Path) -> ChangeFigures:
    """Compare every pair of the corpus `site-revisions` with its known changes."""
    figures = ChangeFigures()
    for row, old, new in iter_pairs(folder):
        old_text, new_text = read_markdown(old, row["url"]), read_markdown(new, row["url"])
        began = time.process_time()
        comparison = compare_pages(old_text, new_text)
        figures.seconds += time.process_time() - began
        differs_sorted = _sort_characters(old_text) != _sort_characters(new_text)
        if row["removed"] or row["added"]:
            figures.changed += 1
            figures.found += comparison.is_changed
            figures.sorted_found += differs_sorted
            _count_blocks(figures, row, comparison)
        else:
            figures.unchanged += 1
            figures.false_alarms += comparison.is_changed
            figures.sorted_alarms += differs_sorted
    return figures


async def rate_noise(folder: Path) -> dict[str, int]:
    """Compare pages with made noise, with and without a known edit, with as many looks as the product takes."""
    pages = [(new, row["url"]) for row, _, new in iter_pairs(folder) if not row["removed"] and not row["added"]]
    counts = Counter({"alarms": 0, "alarms_second_look": 0, "edits": 0, "edits_found": 0})
    for at, (page, url) in enumerate(pages[:NOISY_PAGES]):
        first, *later = (read_markdown(add_noise(page, seed + at), url) for seed in _MOMENTS)
        counts["alarms"] += compare_pages(first, later[0]).is_changed
        counts["alarms_second_look"] += (await look_again(first, later)).is_changed
        for kind in EDITS:
            made = edit_page(page, kind, at)
            if made is None:
                continue
            old = read_markdown(add_noise(made.old, _MOMENTS[0] + at), url)
            new = [read_markdown(add_noise(made.new, seed + at), url) for seed in _MOMENTS[1:]]
            if made.removed[:60] not in old or made.added not in new[0]:
                continue  # The reader does not keep the place of the edit.
            counts["edits"] += 1
            changes = (await look_again(old, new)).changes
            counts["edits_found"] += any(_is_edit(change, made.removed[:60], made.added) for change in changes)
    return dict(counts)


async def look_again(old: str, readings: Sequence[str]) -> PageComparison:
    """Compare an old version with the first of some readings, using the others while the product would read again."""
    others = iter(readings[1:])

    async def read_again() -> str:
        return next(others)

    return await compare_readings(old, readings[0], read_again)


def iter_pairs(folder: Path) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the facts of each pair, and its HTML before and after."""
    for file in sorted(folder.glob("*.json")):
        for row in json.loads(file.read_text(encoding="utf-8")):
            old, new = ((folder / f"{row['id']}.{side}.html").read_text(encoding="utf-8") for side in ("old", "new"))
            yield row, old, new


def read_markdown(html: str, url: str) -> str:
    """Return the Markdown of a page."""
    return read(Snapshot(url, url, 200, media_type="text/html", html=html)).markdown


def _is_edit(change: BlockChange, removed: str, added: str) -> bool:
    return change.kind != "moved" and removed in change.old and added in change.new


def _sort_characters(markdown: str) -> str:
    """Return the sorted characters of a text, by which a service decides if a page is the same."""
    return "".join(sorted(re.sub(r"\s+", "", markdown)))


def _count_blocks(figures: ChangeFigures, row: dict[str, Any], comparison: PageComparison) -> None:
    for side, gold in (("old", row["removed"]), ("new", row["added"])):
        texts = [getattr(change, side) for change in comparison.changes if change.kind != "moved"]
        predicted = [_words(text) for text in texts if text]
        expected = [words for words in map(_words, gold) if words]
        figures.predicted_blocks += len(predicted)
        figures.gold_blocks += len(expected)
        figures.correct_blocks += sum(any(_meets(one, words) for one in expected) for words in predicted)
        figures.found_blocks += sum(any(_meets(one, words) for words in predicted) for one in expected)


def _words(text: str) -> Counter[str]:
    plain = re.sub(r"\]\([^)]*\)|https?://\S+", " ", text)
    return Counter(re.findall(r"\w+", plain.lower()))


def _meets(gold: Counter[str], found: Counter[str]) -> bool:
    shared, one, two = sum((gold & found).values()), sum(gold.values()), sum(found.values())
    return bool(one and two) and (2 * shared / (one + two) >= _SIMILAR or shared / min(one, two) >= _CONTAINED)
