"""Score Markdown against its gold: elements by count, tables as trees, formulas and code by edit distance.

The scores of table structure and formulas follow TEDS (Zhong et al., 2020) and the edit similarity of
OmniDocBench. Pairs are matched greedily, best first.
"""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from apted import APTED, Config
from apted.helpers import Tree
from rapidfuzz.distance import Levenshtein

from benchmarks.markdown.structure import Structure, normalize_code, normalize_text, parse_structure

KINDS = ("headings", "code", "code_text", "code_lang", "tables", "cells", "list_items", "links")
MEANS = ("edit", "text", "code_edit", "teds", "math")

_MAX_EDIT = 60_000
_MAX_NODES = 500
_MIN_SIMILARITY = 0.5
"""Minimum similarity of two formulas that count as a pair."""

_MAX_GOLD_FORMULAS = 150
_MAX_FORMULAS = 400
_ABSOLUTE = re.compile(r"(?:https?:|mailto:|tel:|ftp:|data:|#)")
_OUT = re.compile(r"https?:|mailto:")
_SPACING = re.compile(r"\\(?:left|right|displaystyle|textstyle|mathrm|rm|,|;|!|quad|qquad|limits|\s)")
_GROUPING = re.compile(r"[\s{}]+|\\tag\d*")
_DEFINITION = re.compile(r"^\[\^([^\]]+)\]:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Gold:
    """Expected structure of a page's Markdown. A language is None if the page does not declare it."""

    structure: Structure
    languages: tuple[str | None, ...]
    addresses: tuple[str | None, ...]
    markdown: str | None = None
    """The whole text, if the corpus has it."""


@dataclass(slots=True)
class Score:
    """Score of one page: per kind the numbers of correct, found and expected elements, and similarities."""

    counts: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    means: dict[str, float] = field(default_factory=dict)
    relative: int = 0
    notes: bool | None = None
    """True if all footnotes are found with their labels; None if the page has none."""


def gold_from_json(path: Path) -> Gold:
    """Read the gold of a documentation page."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    structure = Structure(
        headings=[(level, normalize_text(text)) for level, text in facts["headings"]],
        code=[(language or "", normalize_code(text)) for language, text in facts["code"]],
        tables=[[[normalize_text(cell) for cell in row] for row in table] for table in facts["tables"]],
        items=list(facts["items"]),
        links=[(text, address or "") for text, address in facts["links"]],
    )
    return Gold(
        structure, tuple(language for language, _ in facts["code"]), tuple(address for _, address in facts["links"])
    )


def gold_from_markdown(path: Path) -> Gold:
    """Read the gold of a page whose whole Markdown is known."""
    markdown = path.read_text(encoding="utf-8")
    structure = parse_structure(markdown)
    return Gold(
        structure,
        tuple(language for language, _ in structure.code),
        tuple(address for _, address in structure.links),
        markdown,
    )


def score(gold: Gold, markdown: str) -> Score:
    """Score the Markdown of a converter for one page."""
    found = parse_structure(markdown)
    result = Score(counts={kind: _counts(kind, gold, found) for kind in KINDS})
    result.relative = sum(not _ABSOLUTE.match(address) for _, address in found.links)
    if gold.markdown is not None:
        _compare_texts(gold, gold.markdown, found, markdown, result)
    return result


def summary(scores: Iterable[Score]) -> dict[str, float]:
    """Return the micro F1 of every kind over all pages, and mean similarities over the pages they apply to."""
    scores = list(scores)
    figures: dict[str, float] = {}
    for kind in KINDS:
        correct, found, expected = (sum(one.counts[kind][at] for one in scores) for at in range(3))
        if found + expected:
            figures[kind] = 2 * correct / (found + expected)
    for name in MEANS:
        values = [one.means[name] for one in scores if name in one.means]
        if values:
            figures[name] = statistics.mean(values)
    footnotes = [one.notes for one in scores if one.notes is not None]
    if footnotes:
        figures["footnote_pages"] = sum(footnotes)
    figures["relative_links"] = sum(one.relative for one in scores)
    return figures


def _compare_texts(gold: Gold, expected: str, found: Structure, markdown: str, result: Score) -> None:
    means = result.means
    means["edit"] = _similarity(_flat(expected), _flat(markdown))
    means["text"] = _similarity(normalize_text(gold.structure.text), normalize_text(found.text))
    if gold.structure.code:
        means["code_edit"] = _similarity(_all_code(gold.structure), _all_code(found))
    if gold.structure.tables:
        means["teds"] = _table_similarity(gold.structure.tables, found.tables)
    if any(formula.strip() for formula in gold.structure.formulas):
        means["math"] = _formula_similarity(gold.structure.formulas, found.formulas)
    labels = sorted(_DEFINITION.findall(expected))
    if labels:
        result.notes = labels == sorted(_DEFINITION.findall(markdown))


def _counts(kind: str, gold: Gold, found: Structure) -> tuple[int, int, int]:
    if kind == "code":
        return _code_counts(gold, found)
    if kind == "code_lang":
        return _language_counts(gold, found)
    if kind == "links":
        return _link_counts(gold, found)
    expected, actual = _units(kind, gold.structure), _units(kind, found)
    return (expected & actual).total(), actual.total(), expected.total()


def _units(kind: str, structure: Structure) -> Counter[Hashable]:
    if kind == "headings":
        return Counter((level, normalize_text(text)) for level, text in structure.headings)
    if kind == "code_text":
        return Counter(text for _, text in structure.code)
    if kind == "tables":
        return Counter(tuple(map(tuple, table)) for table in structure.tables)
    if kind == "cells":
        return Counter(cell for table in structure.tables for row in table for cell in row if cell)
    return Counter(structure.items)


def _code_counts(gold: Gold, found: Structure) -> tuple[int, int, int]:
    """Count code blocks with the exact text, and the right language if the page declares one."""
    unmatched = Counter(found.code)
    correct = 0
    for language, (_, text) in zip(gold.languages, gold.structure.code, strict=True):
        fits = (key for key in unmatched if unmatched[key] and key[1] == text and language in (None, key[0]))
        hit = next(fits, None)
        if hit is not None:
            unmatched[hit] -= 1
            correct += 1
    return correct, len(found.code), len(gold.structure.code)


def _language_counts(gold: Gold, found: Structure) -> tuple[int, int, int]:
    """Count blocks with the right language, among found blocks whose language the page declares."""
    unmatched: dict[str, list[str]] = defaultdict(list)
    for language, text in found.code:
        unmatched[text].append(language)
    pairs = [
        (language, unmatched[text].pop(0))
        for language, (_, text) in zip(gold.languages, gold.structure.code, strict=True)
        if language and unmatched.get(text)
    ]
    return sum(expected == actual for expected, actual in pairs), len(pairs), len(pairs)


def _link_counts(gold: Gold, found: Structure) -> tuple[int, int, int]:
    """Count links with the exact text and URL; without a gold URL, any absolute URL is correct."""
    unmatched: dict[str, list[str]] = defaultdict(list)
    for text, address in found.links:
        unmatched[text].append(address)
    correct = 0
    for expected, (text, _) in zip(gold.addresses, gold.structure.links, strict=True):
        fits = (actual for actual in unmatched[text] if (actual == expected if expected else _OUT.match(actual)))
        hit = next(fits, None)
        if hit is not None:
            unmatched[text].remove(hit)
            correct += 1
    return correct, len(found.links), len(gold.structure.links)


def _similarity(one: str, other: str) -> float:
    one, other = one[:_MAX_EDIT], other[:_MAX_EDIT]
    return Levenshtein.normalized_similarity(one, other) if one or other else 1.0


def _flat(markdown: str) -> str:
    return re.sub(r"\n{2,}", "\n", re.sub(r"[ \t]+", " ", markdown)).strip()


def _all_code(structure: Structure) -> str:
    return normalize_text("\n".join(text for _, text in structure.code))


class _CellCosts(Config):  # type: ignore[misc]
    """Cost of renaming a cell: the difference of its texts."""

    def rename(self, node1: Tree, node2: Tree) -> float:
        if node1.name == node2.name:
            return 0.0
        if node1.name.startswith("c:") and node2.name.startswith("c:"):
            return 1 - _similarity(node1.name, node2.name)
        return 1.0


def _tree(table: Sequence[Sequence[str]]) -> Tree:
    return Tree("table", *[Tree("tr", *[Tree(f"c:{cell}") for cell in row]) for row in table])


def _nodes(table: Sequence[Sequence[str]]) -> int:
    return 1 + len(table) + sum(map(len, table))


def _table_similarity(expected: Sequence[list[list[str]]], found: Sequence[list[list[str]]]) -> float:
    used: set[int] = set()
    values = []
    for table in expected:
        best, at = 0.0, None
        for index, other in enumerate(found):
            if index in used or _nodes(table) + _nodes(other) > _MAX_NODES:
                continue
            distance = APTED(_tree(table), _tree(other), _CellCosts()).compute_edit_distance()
            value = 1 - distance / max(_nodes(table), _nodes(other))
            if value > best:
                best, at = value, index
        if at is not None:
            used.add(at)
        values.append(best)
    return statistics.mean(values)


def _folded_formula(formula: str) -> str:
    return _GROUPING.sub("", _SPACING.sub("", formula).replace("\\dfrac", "\\frac"))


def _formula_similarity(expected: Sequence[str], found: Sequence[str]) -> float:
    golden = [_folded_formula(one) for one in expected if one.strip()][:_MAX_GOLD_FORMULAS]
    unmatched = Counter([_folded_formula(one) for one in found if one.strip()][:_MAX_FORMULAS])
    values: list[float] = []
    inexact = []
    for formula in golden:
        if unmatched[formula] > 0:
            unmatched[formula] -= 1
            values.append(1.0)
        else:
            inexact.append(formula)
    pool = list((+unmatched).elements())
    for formula in inexact:
        value, at = max(((_similarity(formula, other), at) for at, other in enumerate(pool)), default=(0.0, -1))
        if value > _MIN_SIMILARITY:
            pool.pop(at)
        values.append(value if value > _MIN_SIMILARITY else 0.0)
    return statistics.mean(values)
