"""Measure fields by name and recipes of one example: on pages of a site, on other sites, after a real redesign."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures
from benchmarks.common.corpora import corpus_folder
from benchmarks.knowing.records import saved_page
from scraper.extract.fields import extraction_recipes
from scraper.extract.fields.extraction_recipes import Recipe
from scraper.extract.fields.field_names import FieldName
from scraper.extract.fields.named_values import NamedValueFinder
from scraper.extract.fields.text_leaves import letters_and_digits
from scraper.extract.fields.value_places import PlaceFinder

_REDESIGNED_FIELDS = ("title", "author", "yields", "first_ingredient", "first_step")
_FAR = 7
"""Distance in the list of sites to one of another kind."""

Gold = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _SitePage:
    finder: PlaceFinder
    gold: Gold


def measure(corpora: Path, *, quick: bool) -> Figures:
    """Return the figures `fields.*`."""
    return (
        _measure_names(corpora, pages=3 if quick else 10)
        | _measure_sites(corpora, pages=3 if quick else 10)
        | _measure_redesigns(corpora)
    )


def is_right(value: str | None, gold: Sequence[str]) -> bool:
    """Return True if letters and digits of a value are those of one of the texts."""
    return value is not None and letters_and_digits(value) in map(letters_and_digits, gold)


def load_sites(corpora: Path) -> dict[str, list[tuple[Path, Gold]]]:
    """Return the files and values of the pages of each site."""
    folder = corpus_folder(corpora, "knowing-fields")
    sites: defaultdict[str, list[tuple[Path, Gold]]] = defaultdict(list)
    for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines():
        page = json.loads(line)
        sites[page["site"]].append((folder / page["html"], page["gold"]))
    return dict(sites)


def _measure_sites(corpora: Path, *, pages: int) -> Figures:
    counts: Counter[str] = Counter()
    learned: dict[str, Recipe] = {}
    second: dict[str, PlaceFinder] = {}
    seconds, reads = 0.0, 0
    for site, files in load_sites(corpora).items():
        files = sorted(files, key=lambda one: -sum(map(bool, one[1].values())))[:pages]
        finders = [_SitePage(PlaceFinder(saved_page(file.read_text(encoding="utf-8"))), gold) for file, gold in files]
        example = {name: texts[0] for name, texts in finders[0].gold.items() if texts}
        learned[site], _ = extraction_recipes.learn(finders[0].finder, example, site)
        second[site] = finders[1].finder
        for (file, gold), _one in zip(files[1:], finders[1:], strict=True):
            began = time.process_time()
            found = extraction_recipes.read(
                learned[site], PlaceFinder(saved_page(file.read_text(encoding="utf-8"))), site
            )
            seconds += time.process_time() - began
            reads += 1
            for name in example:
                value = found.values.get(name, (None, 0.0))[0]
                counts["right"] += is_right(value, gold[name])
                counts["wrong"] += value is not None and not is_right(value, gold[name])
                counts["missed"] += bool(gold[name]) and not is_right(value, gold[name])
                counts["invented"] += value is not None and not gold[name]
    names = sorted(learned)
    others = [
        extraction_recipes.read(learned[name], second[other], other).fits
        for at, name in enumerate(names)
        for other in (_same_kind(name, names), names[(at + _FAR) % len(names)])
        if other is not None
    ]
    return {
        "fields.example.f1": round(
            2 * counts["right"] / max(1, 2 * counts["right"] + counts["wrong"] + counts["missed"]), 3
        ),
        "fields.example.ms": round(1_000 * seconds / reads, 1),
        "fields.invented": counts["invented"],
        "fields.example.other_sites_refused": round(1 - sum(others) / len(others), 3),
    }


def _measure_names(corpora: Path, *, pages: int) -> Figures:
    counts: Counter[str] = Counter()
    stated: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for files in load_sites(corpora).values():
        for file, gold in files[:pages]:
            named = NamedValueFinder(PlaceFinder(saved_page(file.read_text(encoding="utf-8"))))
            for name, texts in gold.items():
                found = named.find(FieldName(name))
                is_good = found is not None and is_right(found.text, texts)
                counts["right"] += is_good
                counts["wrong"] += found is not None and not is_good
                counts["missed"] += bool(texts) and not is_good
                if found is not None:
                    stated[int(10 * found.confidence)].append((found.confidence, is_good))
    right, wrong = counts["right"], counts["wrong"]
    total = max(1, right + wrong)
    gap = sum(abs(sum(share for share, _ in one) - sum(is_good for _, is_good in one)) for one in stated.values())
    return {
        "fields.names.f1": round(2 * right / max(1, 2 * right + wrong + counts["missed"]), 3),
        "fields.names.precision": round(right / total, 3),
        "fields.calibration": round(gap / total, 3),
    }


def _same_kind(name: str, names: Sequence[str]) -> str | None:
    return next((other for other in names if other != name and other.split("-")[0] == name.split("-")[0]), None)


def _measure_redesigns(corpora: Path) -> Figures:
    right = wanted = 0
    for site in sorted(path for path in corpus_folder(corpora, "knowing-redesign").iterdir() if path.is_dir()):
        gold = json.loads((site / "gold.json").read_text(encoding="utf-8"))
        before, after = (
            PlaceFinder(saved_page((site / f"{name}.html").read_text(encoding="utf-8"))) for name in ("before", "after")
        )
        example = {name: gold["before"][name][0] for name in _REDESIGNED_FIELDS if name in gold["before"]}
        recipe, _ = extraction_recipes.learn(before, example, site.name)
        found = extraction_recipes.read(recipe, after, site.name)
        for name in recipe.places:
            if name in gold["after"] and extraction_recipes.locate(after, gold["after"][name][0])[0] is not None:
                wanted += 1
                right += is_right(found.values.get(name, (None, 0.0))[0], gold["after"][name][:1])
    return {"fields.redesign.real.f1": round(right / max(1, wanted), 3)}
