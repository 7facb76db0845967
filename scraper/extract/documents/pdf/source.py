"""A PDF file to pages of runs and rules, by liteparse (PDFium)."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from liteparse import LiteParse, ParseError
from liteparse.types import PageComplexityStats, StructureTree, StructureTreeElement, TextItem, VectorGraphics

from scraper.errors import Encrypted, Malformed
from scraper.extract.documents.model import Asked
from scraper.extract.documents.pdf.shapes import Page, Rule, Run, TagNode

__all__ = ["MAX_PAGES", "Source", "load", "pictured_pages", "warm_up"]

MAX_PAGES = 1_000
"""In one reading; further ones are read when they are asked for."""

MAX_RUNS = 400_000
"""Of all pages together; a page of prose has a hundred."""
MAX_RULES = 4_000
"""A page with more is a map or a drawing, whose lines are no table's."""

_THIN = 2.5
"""A filled box no thicker than this is a line."""
_SHORT = 6.0
_LIGATURES = re.compile("[\ufb00-\ufb06\ufb13-\ufb17]")
_PRESENTATION = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]")
_BOLD = re.compile(r"bold|black|heavy|semibd|demi\b|-bd\b", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|menlo|inconsolata|cmtt|lmtt", re.IGNORECASE)
_BOLD_WEIGHT = 600
_PICTURE_SHARE = 0.5
_TITLE = re.compile(r"<dc:title>.{0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_CREATOR = re.compile(r"<dc:creator>.{0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_TREE_NODES = 200_000
_TREE_DEPTH = 100

_SMALLEST = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>"
)


@dataclass(frozen=True, slots=True)
class Source:
    """What a file holds."""

    pages: tuple[Page, ...]
    page_count: int
    title: str | None = None
    author: str | None = None
    encrypted: bool = False
    failed_pages: tuple[int, ...] = ()


def warm_up() -> None:
    """Load PDFium, which liteparse opens at its first file."""
    _parser(Asked()).parse(_SMALLEST)


def load(data: bytes, asked: Asked) -> Source:
    """The pages of a file.

    Raises:
        Encrypted: it asks for a password.
        Malformed: PDFium cannot make sense of it.
    """
    try:
        result = _parser(asked).parse(data)
    except ParseError as error:
        raise _told(str(error), asked) from None
    budget = MAX_RUNS
    pages = []
    for page in result.pages:
        pages.append(_page(page, budget))
        budget -= len(pages[-1].runs)
    meta = result.doc_meta
    xmp = meta.xmp or "" if meta else ""
    return Source(
        tuple(pages),
        result.total_pages or result.num_pages,
        title=_fact(_TITLE, xmp),
        author=_fact(_CREATOR, xmp),
        encrypted=bool(meta and meta.is_encrypted),
        failed_pages=tuple(sorted({int(failure.page_num) for failure in result.page_errors or ()})),
    )


def pictured_pages(data: bytes, pages: Sequence[int], password: str | None) -> tuple[int, ...]:
    """Those of the pages that are, for the most part, a picture or letters without meaning."""
    parser = _parser(Asked(pages=tuple(pages), password=password), complexity=True)
    try:
        result = parser.parse(data)
    except ParseError:
        return ()
    return tuple(page.page_num for page in result.pages if page.complexity and _is_pictured(page.complexity))


def _is_pictured(page: PageComplexityStats) -> bool:
    return page.full_page_image or page.largest_image_coverage > _PICTURE_SHARE or page.is_garbled


def _fact(pattern: re.Pattern[str], xmp: str) -> str | None:
    found = pattern.search(xmp)
    return html.unescape(found[1]).strip() or None if found else None


def _parser(asked: Asked, *, complexity: bool = False) -> LiteParse:
    return LiteParse(
        ocr_enabled=False,
        output_format="json",
        image_mode="off",
        quiet=True,
        extract_text_metadata=True,
        extract_vector_graphics=True,
        extract_structure_tree=True,
        extract_document_metadata=True,
        include_complexity=complexity,
        continue_on_page_error=True,
        max_pages=None if asked.pages else MAX_PAGES,
        target_pages=",".join(map(str, asked.pages[:MAX_PAGES])) or None,
        password=asked.password,
    )


def _told(message: str, asked: Asked) -> Exception:
    if "password" in message.lower():
        wrong = "another one than was given" if asked.password else "a password"
        return Encrypted(
            f"The PDF is locked and asks for {wrong}.",
            next_step="Give `password`, or look for another copy.",
        )
    return Malformed(
        "The file claims to be a PDF but cannot be read as one: it is damaged or was cut off.",
        next_step="Try once more, or look for another copy.",
    )


def _page(page: Any, budget: int) -> Page:
    width, height = _sane(page.width), _sane(page.height)
    angle = _reading_angle(page.text_items)
    runs = tuple(_runs(page.text_items[:budget], angle))
    across, down = _rules(page.vector_graphics, width, height)
    if angle:
        runs, across, down = _turned(runs, across, down, angle, width, height)
        width, height = (height, width) if angle % 180 else (width, height)
    return Page(page.page_num, width, height, runs, across, down, _tags(page.structure_tree))


def _sane(length: float) -> float:
    return length if math.isfinite(length) and 0 < length < 100_000 else 800.0


def _reading_angle(items: list[TextItem]) -> int:
    """How most of the page's letters are turned: 0, 90, 180 or 270."""
    letters: Counter[int] = Counter()
    for item in items:
        letters[round(item.rotation / 90) * 90 % 360 if math.isfinite(item.rotation) else 0] += len(item.text)
    return letters.most_common(1)[0][0] if letters else 0


def _runs(items: list[TextItem], angle: int) -> Iterator[Run]:
    """The letters that are turned as the page is; stamps in the margin are not."""
    for item in items:
        text = item.text
        if not text or text.isspace() or abs(item.rotation - angle) > 1:
            continue
        if not all(map(math.isfinite, (item.x, item.y, item.width, item.height))) or item.width <= 0:
            continue
        if not text.isascii():
            text = _plain_forms(text)
        size = item.font_size or item.height
        name = item.font_name or ""
        yield Run(
            text,
            item.x,
            item.y,
            item.x + item.width,
            item.y + item.height,
            round(min(size, 1000.0) * 2) / 2,
            (item.font_weight or 0) >= _BOLD_WEIGHT or _BOLD.search(name) is not None,
            _MONO.search(name) is not None,
            item.mcid,
        )


def _plain_forms(text: str) -> str:
    """Letters for ligatures and for the shapes that Arabic letters take in print."""
    if _LIGATURES.search(text) or _PRESENTATION.search(text):
        text = "".join(
            unicodedata.normalize("NFKC", letter) if letter >= "\ufb00" else letter for letter in text
        )
    return text.replace("\u00a0", " ")


def _rules(
    drawn: VectorGraphics | None, width: float, height: float
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """Straight lines, and the edges of boxes that are no larger than a table can be."""
    if drawn is None or len(drawn.shapes) + len(drawn.lines) > MAX_RULES:
        return (), ()
    across: list[Rule] = []
    down: list[Rule] = []
    for shape in drawn.shapes:
        x, y, w, h = shape.bbox
        if not all(map(math.isfinite, shape.bbox)) or not (shape.stroke or shape.fill):
            continue
        if h <= _THIN < w:
            across.append(Rule(y + h / 2, x, x + w))
        elif w <= _THIN < h:
            down.append(Rule(x + w / 2, y, y + h))
        elif not shape.has_curve and _SHORT < w < width * 0.97 and _SHORT < h < height * 0.9:
            across += (Rule(y, x, x + w), Rule(y + h, x, x + w))
            down += (Rule(x, y, y + h), Rule(x + w, y, y + h))
    for line in drawn.lines:
        if abs(line.y1 - line.y2) <= _THIN < abs(line.x1 - line.x2):
            across.append(Rule((line.y1 + line.y2) / 2, min(line.x1, line.x2), max(line.x1, line.x2)))
        elif abs(line.x1 - line.x2) <= _THIN < abs(line.y1 - line.y2):
            down.append(Rule((line.x1 + line.x2) / 2, min(line.y1, line.y2), max(line.y1, line.y2)))
    return tuple(sorted(set(across))), tuple(sorted(set(down)))


_Lines = tuple[Rule, ...]


def _turned(
    runs: tuple[Run, ...], across: _Lines, down: _Lines, angle: int, width: float, height: float
) -> tuple[tuple[Run, ...], _Lines, _Lines]:
    """The page as a reader holds it whose letters are turned by `angle`."""

    def box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        if angle == 90:
            return y0, width - x1, y1, width - x0
        if angle == 270:
            return height - y1, x0, height - y0, x1
        return width - x1, height - y1, width - x0, height - y0

    placed = []
    for run in runs:
        x0, y0, x1, y1 = box(run.x0, run.y0, run.x1, run.y1)
        placed.append(run._replace(x0=x0, y0=y0, x1=x1, y1=y1))
    lines = [box(rule.start, rule.at, rule.end, rule.at) for rule in across]
    lines += [box(rule.at, rule.start, rule.at, rule.end) for rule in down]
    level = tuple(sorted(Rule(y0, x0, x1) for x0, y0, x1, y1 in lines if y1 - y0 < x1 - x0))
    upright = tuple(sorted(Rule(x0, y0, y1) for x0, y0, x1, y1 in lines if y1 - y0 >= x1 - x0))
    return tuple(placed), level, upright


def _tags(tree: StructureTree | None) -> tuple[TagNode, ...]:
    """The file's own structure, bounded in size and depth."""
    left = _TREE_NODES

    def node(element: StructureTreeElement, depth: int) -> TagNode:
        nonlocal left
        left -= 1
        deeper = depth < _TREE_DEPTH and left > 0
        return TagNode(
            element.type,
            tuple(element.marked_content_ids),
            tuple(node(child, depth + 1) for child in element.children) if deeper else (),
            _span(element.attributes, "ColSpan"),
            _span(element.attributes, "RowSpan"),
            element.actual_text or "",
        )

    return tuple(node(root, 0) for root in tree.roots) if tree else ()


def _span(attributes: dict[str, Any], name: str) -> int:
    value = attributes.get(name)
    return min(100, max(1, int(value))) if isinstance(value, (int, float)) and math.isfinite(value) else 1
