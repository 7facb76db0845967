"""How near one Markdown text comes to another: units counted, tables as trees, formulas and code by edits.

The measures of table structure and formulas follow TEDS (Zhong et al., 2020) and the edit similarity of
OmniDocBench; pairs are chosen greedily, best first.
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

from benchmarks.markdown.structure import Structure, folded_code, folded_text, structure_of

KINDS = ("headings", "code", "code_text", "code_lang", "tables", "cells", "list_items", "links")
MEANS = ("edit", "text", "code_edit", "teds", "math")

_MAX_EDIT = 60_000
_MAX_NODES = 500
_LEAST_SIMILAR = 0.5
"""Formulas less alike than this are not the same formula."""

_MAX_GOLD_FORMULAS = 150
_MAX_FORMULAS = 400
_ABSOLUTE = re.compile(r"(?:https?:|mailto:|tel:|ftp:|data:|#)")
_OUT = re.compile(r"https?:|mailto:")
_SPACING = re.compile(r"\\(?:left|right|displaystyle|textstyle|mathrm|rm|,|;|!|quad|qquad|limits|\s)")
_GROUPING = re.compile(r"[\s{}]+|\\tag\d*")
_DEFINITION = re.compile(r"^\[\^([^\]]+)\]:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Gold:
    """What a page's Markdown should hold. A language of None: the page does not tell it."""

    structure: Structure
    languages: tuple[str | None, ...]
    addresses: tuple[str | None, ...]
    markdown: str | None = None
    """The whole text, where the corpus has it."""


@dataclass(slots=True)
class Score:
    """One page: of each kind found rightly, found, wanted; and the similarities that apply."""

    counts: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    means: dict[str, float] = field(default_factory=dict)
    relative: int = 0
    notes: bool | None = None
    """Whether the page's footnotes are all there, labelled right; None where it has none."""


def gold_from_json(path: Path) -> Gold:
    """Read the gold of a documentation page."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    structure = Structure(
        headings=[(level, folded_text(text)) for level, text in facts["headings"]],
        code=[(language or "", folded_code(text)) for language, text in facts["code"]],
        tables=[[[folded_text(cell) for cell in row] for row in table] for table in facts["tables"]],
        items=list(facts["items"]),
        links=[(text, address or "") for text, address in facts["links"]],
    )
    return Gold(
        structure, tuple(language for language, _ in facts["code"]), tuple(address for _, address in facts["links"])
    )


def gold_from_markdown(path: Path) -> Gold:
    """Read the gold of a page whose whole Markdown is known."""
    markdown = path.read_text(encoding="utf-8")
    structure = structure_of(markdown)
    return Gold(
        structure,
        tuple(language for language, _ in structure.code),
        tuple(address for _, address in structure.links),
        markdown,
    )


def score(gold: Gold, markdown: str) -> Score:
    """Score the Markdown of a converter for one page."""
    found = structure_of(markdown)
    result = Score(counts={kind: _counts(kind, gold, found) for kind in KINDS})
    result.relative = sum(not _ABSOLUTE.match(address) for _, address in found.links)
    if gold.markdown is not None:
        _compare_texts(gold, gold.markdown, found, markdown, result)
    return result


def summary(scores: Iterable[Score]) -> dict[str, float]:
    """Micro F1 of every kind over all pages, and the means over those that have the thing."""
    scores = list(scores)
    figures: dict[str, float] = {}
    for kind in KINDS:
        right, found, wanted = (sum(one.counts[kind][at] for one in scores) for at in range(3))
        if found + wanted:
            figures[kind] = 2 * right / (found + wanted)
    for name in MEANS:
        values = [one.means[name] for one in scores if name in one.means]
        if values:
            figures[name] = statistics.mean(values)
    noted = [one.notes for one in scores if one.notes is not None]
    if noted:
        figures["footnote_pages"] = sum(noted)
    figures["relative_links"] = sum(one.relative for one in scores)
    return figures


def _compare_texts(gold: Gold, wanted: str, found: Structure, markdown: str, result: Score) -> None:
    means = result.means
    means["edit"] = _similar(_flat(wanted), _flat(markdown))
    means["text"] = _similar(folded_text(gold.structure.text), folded_text(found.text))
    if gold.structure.code:
        means["code_edit"] = _similar(_all_code(gold.structure), _all_code(found))
    if gold.structure.tables:
        means["teds"] = _tables_alike(gold.structure.tables, found.tables)
    if any(formula.strip() for formula in gold.structure.formulas):
        means["math"] = _formulas_alike(gold.structure.formulas, found.formulas)
    labels = sorted(_DEFINITION.findall(wanted))
    if labels:
        result.notes = labels == sorted(_DEFINITION.findall(markdown))


def _counts(kind: str, gold: Gold, found: Structure) -> tuple[int, int, int]:
    if kind == "code":
        return _code_counts(gold, found)
    if kind == "code_lang":
        return _language_counts(gold, found)
    if kind == "links":
        return _link_counts(gold, found)
    wanted, had = _units(kind, gold.structure), _units(kind, found)
    return (wanted & had).total(), had.total(), wanted.total()


def _units(kind: str, structure: Structure) -> Counter[Hashable]:
    if kind == "headings":
        return Counter((level, folded_text(text)) for level, text in structure.headings)
    if kind == "code_text":
        return Counter(text for _, text in structure.code)
    if kind == "tables":
        return Counter(tuple(map(tuple, table)) for table in structure.tables)
    if kind == "cells":
        return Counter(cell for table in structure.tables for row in table for cell in row if cell)
    return Counter(structure.items)


def _code_counts(gold: Gold, found: Structure) -> tuple[int, int, int]:
    """Text exact, and the language where the page tells it."""
    left = Counter(found.code)
    right = 0
    for language, (_, text) in zip(gold.languages, gold.structure.code, strict=True):
        fits = (key for key in left if left[key] and key[1] == text and language in (None, key[0]))
        hit = next(fits, None)
        if hit is not None:
            left[hit] -= 1
            right += 1
    return right, len(found.code), len(gold.structure.code)


def _language_counts(gold: Gold, found: Structure) -> tuple[int, int, int]:
    """Of blocks whose text was found and whose language the page tells: those with the right language."""
    left: dict[str, list[str]] = defaultdict(list)
    for language, text in found.code:
        left[text].append(language)
    told = [
        (language, left[text].pop(0))
        for language, (_, text) in zip(gold.languages, gold.structure.code, strict=True)
        if language and left.get(text)
    ]
    return sum(wanted == had for wanted, had in told), len(told), len(told)


def _link_counts(gold: Gold, found: Structure) -> tuple[int, int, int]:
    """Text exact, and the address; where the gold has none, any absolute one will do."""
    left: dict[str, list[str]] = defaultdict(list)
    for text, address in found.links:
        left[text].append(address)
    right = 0
    for wanted, (text, _) in zip(gold.addresses, gold.structure.links, strict=True):
        fits = (had for had in left[text] if (had == wanted if wanted else _OUT.match(had)))
        hit = next(fits, None)
        if hit is not None:
            left[text].remove(hit)
            right += 1
    return right, len(found.links), len(gold.structure.links)


def _similar(one: str, other: str) -> float:
    one, other = one[:_MAX_EDIT], other[:_MAX_EDIT]
    return Levenshtein.normalized_similarity(one, other) if one or other else 1.0


def _flat(markdown: str) -> str:
    return re.sub(r"\n{2,}", "\n", re.sub(r"[ \t]+", " ", markdown)).strip()


def _all_code(structure: Structure) -> str:
    return folded_text("\n".join(text for _, text in structure.code))


class _CellCosts(Config):  # type: ignore[misc]
    """Renaming a cell costs as much as its text differs."""

    def rename(self, node1: Tree, node2: Tree) -> float:
        if node1.name == node2.name:
            return 0.0
        if node1.name.startswith("c:") and node2.name.startswith("c:"):
            return 1 - _similar(node1.name, node2.name)
        return 1.0


def _tree(table: Sequence[Sequence[str]]) -> Tree:
    return Tree("table", *[Tree("tr", *[Tree(f"c:{cell}") for cell in row]) for row in table])


def _nodes(table: Sequence[Sequence[str]]) -> int:
    return 1 + len(table) + sum(map(len, table))


def _tables_alike(wanted: Sequence[list[list[str]]], found: Sequence[list[list[str]]]) -> float:
    used: set[int] = set()
    values = []
    for table in wanted:
        best, at = 0.0, None
        for place, other in enumerate(found):
            if place in used or _nodes(table) + _nodes(other) > _MAX_NODES:
                continue
            distance = APTED(_tree(table), _tree(other), _CellCosts()).compute_edit_distance()
            value = 1 - distance / max(_nodes(table), _nodes(other))
            if value > best:
                best, at = value, place
        if at is not None:
            used.add(at)
        values.append(best)
    return statistics.mean(values)


def _folded_formula(formula: str) -> str:
    return _GROUPING.sub("", _SPACING.sub("", formula).replace("\\dfrac", "\\frac"))


def _formulas_alike(wanted: Sequence[str], found: Sequence[str]) -> float:
    golden = [_folded_formula(one) for one in wanted if one.strip()][:_MAX_GOLD_FORMULAS]
    left = Counter([_folded_formula(one) for one in found if one.strip()][:_MAX_FORMULAS])
    values: list[float] = []
    inexact = []
    for formula in golden:
        if left[formula] > 0:
            left[formula] -= 1
            values.append(1.0)
        else:
            inexact.append(formula)
    pool = list((+left).elements())
    for formula in inexact:
        value, at = max(((_similar(formula, other), at) for at, other in enumerate(pool)), default=(0.0, -1))
        if value > _LEAST_SIMILAR:
            pool.pop(at)
        values.append(value if value > _LEAST_SIMILAR else 0.0)
    return statistics.mean(values)
