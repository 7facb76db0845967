"""Measure fields by name, and recipes of one example on pages of the site and on other sites."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures
from benchmarks.common.corpora import corpus_folder
from benchmarks.knowing.records import saved_page
from scraper.facts.fields import extraction_recipes
from scraper.facts.fields.extraction_recipes import ExtractionRecipe
from scraper.facts.fields.field_names import FieldName
from scraper.facts.fields.named_values import NamedValueFinder
from scraper.facts.fields.place_finder import ValuePlaceFinder
from scraper.text.sanitize import name_key

_FAR = 7
"""Distance in the list of sites to one of another kind."""

Gold = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _SitePage:
    finder: ValuePlaceFinder
    gold: Gold


@dataclass(slots=True)
class FieldCounts:
    """Counts of right, wrong, missed and invented values. A wrong value of a stated field is missed too."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    invented: int = 0
    """Values of fields that the page does not state."""

    def add(self, values: Mapping[str, str], gold: Gold) -> None:
        """Count the values of a page for the fields of its gold."""
        for name, texts in gold.items():
            value = values.get(name)
            is_good = is_right(value, texts)
            self.right += is_good
            self.wrong += value is not None and not is_good
            self.missed += bool(texts) and not is_good
            self.invented += value is not None and not texts

    def f1(self) -> float:
        """Return F1 of all values."""
        return round(2 * self.right / max(1, 2 * self.right + self.wrong + self.missed), 3)

    def share(self) -> float:
        """Return the share of stated fields with the right value."""
        return round(self.right / max(1, self.right + self.missed), 3)


def measure(corpora: Path, *, quick: bool) -> Figures:
    """Return the figures `fields.*`."""
    pages = 3 if quick else 10
    return _measure_names(corpora, pages) | _measure_sites(corpora, pages)


def is_right(value: str | None, gold: Sequence[str]) -> bool:
    """Return True if letters and digits of a value are those of one of the texts."""
    return value is not None and name_key(value) in map(name_key, gold)


def load_sites(corpora: Path) -> dict[str, list[tuple[Path, Gold]]]:
    """Return the files and values of the pages of each site."""
    folder = corpus_folder(corpora, "knowing-fields")
    sites: defaultdict[str, list[tuple[Path, Gold]]] = defaultdict(list)
    for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines():
        page = json.loads(line)
        sites[page["site"]].append((folder / page["html"], page["gold"]))
    return dict(sites)


def _measure_sites(corpora: Path, pages: int) -> Figures:
    counts = FieldCounts()
    learned: dict[str, ExtractionRecipe] = {}
    second: dict[str, ValuePlaceFinder] = {}
    seconds, reads = 0.0, 0
    for site, files in load_sites(corpora).items():
        files = sorted(files, key=lambda one: -sum(map(bool, one[1].values())))[:pages]
        finders = [
            _SitePage(ValuePlaceFinder(saved_page(file.read_text(encoding="utf-8"))), gold) for file, gold in files
        ]
        example = {name: texts[0] for name, texts in finders[0].gold.items() if texts}
        learned[site], _ = extraction_recipes.learn(finders[0].finder, example, site)
        second[site] = finders[1].finder
        for (file, gold), _one in zip(files[1:], finders[1:], strict=True):
            began = time.process_time()
            found = extraction_recipes.read(
                learned[site], ValuePlaceFinder(saved_page(file.read_text(encoding="utf-8"))), site
            )
            seconds += time.process_time() - began
            reads += 1
            values = {name: value for name, (value, _) in found.values.items()}
            counts.add(values, {name: gold[name] for name in example})
    names = sorted(learned)
    others = [
        extraction_recipes.read(learned[name], second[other], other).fits
        for at, name in enumerate(names)
        for other in (_same_kind(name, names), names[(at + _FAR) % len(names)])
        if other is not None
    ]
    return {
        "fields.example.f1": counts.f1(),
        "fields.example.ms": round(1_000 * seconds / reads, 1),
        "fields.invented": counts.invented,
        "fields.example.other_sites_refused": round(1 - sum(others) / len(others), 3),
    }


def _measure_names(corpora: Path, pages: int) -> Figures:
    counts: defaultdict[str, FieldCounts] = defaultdict(FieldCounts)
    stated: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for site, files in load_sites(corpora).items():
        for file, gold in files[:pages]:
            named = NamedValueFinder(ValuePlaceFinder(saved_page(file.read_text(encoding="utf-8"))))
            found = {name: one for name in gold if (one := named.find(FieldName(name))) is not None and one.is_clear}
            counts[site.split("-")[0]].add({name: one.text for name, one in found.items()}, gold)
            for name, one in found.items():
                stated[int(10 * one.confidence)].append((one.confidence, is_right(one.text, gold[name])))
    total = FieldCounts(
        right=sum(one.right for one in counts.values()),
        wrong=sum(one.wrong for one in counts.values()),
        missed=sum(one.missed for one in counts.values()),
    )
    number = max(1, total.right + total.wrong)
    gap = sum(abs(sum(share for share, _ in one) - sum(is_good for _, is_good in one)) for one in stated.values())
    return {f"fields.names.by_kind.{kind}.f1": one.f1() for kind, one in sorted(counts.items())} | {
        "fields.names.f1": total.f1(),
        "fields.names.precision": round(total.right / number, 3),
        "fields.calibration": round(gap / number, 3),
    }


def _same_kind(name: str, names: Sequence[str]) -> str | None:
    return next((other for other in names if other != name and other.split("-")[0] == name.split("-")[0]), None)
