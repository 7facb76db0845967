"""Score the text of a document against its gold: words, their order, tables, headings, single facts.

Tables are compared as in the ICDAR 2013 competition (Goebel et al., "A methodology for evaluating algorithms
for table understanding in PDF documents", 2012): by the pairs of neighboring cells. Facts have the form of
olmOCR-bench.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

Grid = list[list[str]]
Relations = Counter[tuple[str, str, str]]

_SAME_HEADING = 90
_PLAIN_CHARACTERS = {
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e"), '"'),
    **dict.fromkeys(map(ord, "\u00ad\u200b\ufeff")),
}
_MARKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--.*?-->", re.S), " "),
    (re.compile(r"!?\[([^\]]*)\]\((?:[^()]|\([^)]*\))*\)"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^>]{0,200}>"), " "),
    (re.compile(r"^\s*\|?\s*:?-{3,}[-|:\s]*$", re.M), " "),
    (re.compile(r"^\s{0,3}#{1,6}\s+", re.M), ""),
    (re.compile(r"^\s*(?:[-*+\u2022\u25cf\u25aa\u2023\uf0b7]|\d+\\?\.)\s+", re.M), ""),
    (re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~<>$])"), r"\1"),
    (re.compile(r"\*\*|__|`|\|"), " "),
    (re.compile(r"(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)"), ""),
)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*$", re.M)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores from 0 to 1; None if the gold has no such element."""

    words: float
    order: float
    tables: float | None
    headings: float | None


def scores(gold: str, text: str) -> Scores:
    """Return all scores of one document."""
    expected, got = _words(gold), _words(text)
    tables = _relations_in(gold)
    return Scores(
        _f1(Counter(expected), Counter(got)),
        Indel.normalized_similarity(expected, got) if expected or got else 1.0,
        _f1(tables, _relations_in(text)) if tables else None,
        _headings_score(_headings(gold), _headings(text)),
    )


def table_score(gold: Relations, text: str) -> float:
    """Return the F1 of the pairs of neighboring cells."""
    return _f1(gold, _relations_in(text))


def xml_relations(path: Path) -> Relations:
    """Return the pairs of neighboring cells in a gold file of the ICDAR competition."""
    relations: Relations = Counter()
    for region in ElementTree.parse(path).iter("region"):
        cells = {}
        for cell in region.iter("cell"):
            content = cell.find("content")
            place = int(cell.get("start-row", 0)), int(cell.get("start-col", 0))
            cells[place] = "" if content is None else "".join(content.itertext())
        if cells:
            height, width = (max(place[axis] for place in cells) + 1 for axis in (0, 1))
            relations += _relations([[cells.get((y, x), "") for x in range(width)] for y in range(height)])
    return relations


def fact_holds(fact: Mapping[str, Any], text: str) -> bool:
    """Return True if a fact of olmOCR-bench holds for the text."""
    allowed, kind = int(fact.get("max_diffs") or 0), fact["type"]
    if kind == "table":
        return any(_cell_holds(fact, allowed, grid) for grid in _tables(text))
    if kind == "math":
        return _flat_formula(fact["math"]) in _flat_formula(text)
    folded = fact.get("case_sensitive") is False
    body = _cleaned(text).lower() if folded else _cleaned(text)

    def field(key: str) -> str:
        return _cleaned(fact[key]).lower() if folded else _cleaned(fact[key])

    if kind == "order":
        first = _position(field("before"), body, allowed)
        return first is not None and _position(field("after"), body[first + 1 :], allowed) is not None
    if fact.get("first_n") or fact.get("last_n"):
        head = body[: fact["first_n"]] if fact.get("first_n") else ""
        body = head + (body[-fact["last_n"] :] if fact.get("last_n") else "")
    found = _position(field("text"), body, allowed) is not None
    return found if kind == "present" else not found


def _cleaned(text: str) -> str:
    """Return the text without Markdown and with plain punctuation."""
    text = html.unescape(text)
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return " ".join(unicodedata.normalize("NFKC", text).translate(_PLAIN_CHARACTERS).split())


def _words(text: str) -> list[str]:
    """Return the words in lower case; each ideograph is a word."""
    return _WORD.findall(_cleaned(text).lower())


def _f1(gold: Counter[Any], got: Counter[Any]) -> float:
    total = sum(gold.values()) + sum(got.values())
    return 2 * sum((gold & got).values()) / total if total else 1.0


def _tables(text: str) -> list[Grid]:
    grids: list[Grid] = []
    rows: list[str] = []
    for line in [*text.splitlines(), ""]:
        if "|" in line and (rows or not line.strip().startswith("#")):
            rows.append(line)
            continue
        if len(rows) >= 2 and any(_RULE.match(row) for row in rows):
            grids.append([_cells(row) for row in rows if not _RULE.match(row)])
        rows = []
    return grids + [_html_grid(table) for table in re.findall(r"<table.*?</table>", text, flags=re.S | re.I)]


def _cells(row: str) -> list[str]:
    bare = row.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", bare)]


def _html_grid(table: str) -> Grid:
    grid: Grid = []
    taken: set[tuple[int, int]] = set()
    for y, row in enumerate(re.findall(r"<tr.*?(?=<tr|</table>)", table, flags=re.S | re.I)):
        line: list[str] = []
        cells = re.findall(r"<t[dh]([^>]*)>(.*?)(?=<t[dh][\s>]|</tr>|</table>|$)", row, flags=re.S | re.I)
        for attributes, body in cells:
            while (y, len(line)) in taken:
                line.append("")
            across, down = (_span(attributes, name) for name in ("colspan", "rowspan"))
            taken |= {(y + dy, len(line) + dx) for dy in range(1, down) for dx in range(across)}
            line += [body, *[""] * (across - 1)]
        grid.append(line)
    return grid


def _span(attributes: str, name: str) -> int:
    found = re.search(rf'{name}="?(\d{{1,3}})', attributes)
    return max(1, min(100, int(found[1]))) if found else 1


def _cell(text: str) -> str:
    return re.sub(r"\s+", "", _cleaned(text.strip())).lower()  # A lone dash is no list item.


def _relations(grid: Grid) -> Relations:
    """Return each cell with its nearest filled neighbor to the right and below."""
    cells = [[_cell(text) for text in row] for row in grid]
    relations: Relations = Counter()
    for y, row in enumerate(cells):
        for x, text in enumerate(row):
            right = next((other for other in row[x + 1 :] if other), None)
            below = next((line[x] for line in cells[y + 1 :] if x < len(line) and line[x]), None)
            if text and right:
                relations[text, right, "right"] += 1
            if text and below:
                relations[text, below, "below"] += 1
    return relations


def _relations_in(text: str) -> Relations:
    relations: Relations = Counter()
    for grid in _tables(text):
        relations += _relations(grid)
    return relations


def _headings(text: str) -> list[tuple[int, str]]:
    found = ((len(match[1]), " ".join(_words(match[2]))) for match in _HEADING.finditer(_FENCED.sub("", text)))
    return [(level, words) for level, words in found if words]


def _headings_score(gold: Sequence[tuple[int, str]], got: Sequence[tuple[int, str]]) -> float | None:
    """Return the F1 of the headings; a heading of another rank counts half."""
    if not gold:
        return None
    gold_ranks, got_ranks = _ranks(gold), _ranks(got)
    left, points = list(got), 0.0
    for level, words in gold:
        match = next((other for other in left if fuzz.ratio(words, other[1]) >= _SAME_HEADING), None)
        if match is not None:
            left.remove(match)
            points += 1.0 if gold_ranks[level] == got_ranks[match[0]] else 0.5
    return 2 * points / (len(gold) + len(got)) if got else 0.0


def _ranks(headings: Sequence[tuple[int, str]]) -> dict[int, int]:
    return {level: rank for rank, level in enumerate(sorted({level for level, _ in headings}))}


def _position(needle: str, hay: str, allowed: int) -> int | None:
    """Return the position of a text, allowing some different letters."""
    at = hay.find(needle)
    if at >= 0 or not needle or allowed <= 0:
        return at if at >= 0 else None
    least = max(1.0, 100 * (1 - allowed / len(needle)))
    found = fuzz.partial_ratio_alignment(needle, hay, score_cutoff=least)
    return found.dest_start if found is not None and found.score >= least else None


def _cell_holds(fact: Mapping[str, Any], allowed: int, grid: Grid) -> bool:
    cells = [[_cell(text) for text in row] for row in grid]
    around = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

    def same(expected: str, text: str) -> bool:
        slack = max(allowed, 0.05 * len(expected)) / max(1, len(expected))
        return bool(text) and fuzz.ratio(expected, text) >= 100 * (1 - slack)

    def at(y: int, x: int) -> str:
        return cells[y][x] if 0 <= y < len(cells) and 0 <= x < len(cells[y]) else ""

    def holds(y: int, x: int) -> bool:
        near = all(same(_cell(fact[key]), at(y + dy, x + dx)) for key, (dy, dx) in around.items() if fact.get(key))
        top, left = fact.get("top_heading"), fact.get("left_heading")
        above = not top or any(same(_cell(top), at(row, x)) for row in range(y))
        return near and above and (not left or any(same(_cell(left), at(y, column)) for column in range(x)))

    expected = _cell(fact["cell"])
    return any(same(expected, text) and holds(y, x) for y, row in enumerate(cells) for x, text in enumerate(row))


def _flat_formula(text: str) -> str:
    return re.sub(r"\\(left|right|,|;|!|quad|displaystyle|mathrm|text)|[\s{}$]", "", text)
