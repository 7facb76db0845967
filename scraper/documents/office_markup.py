"""Convert the HTML that the readers of office formats build to Markdown, and write what the formats share.

Review comments become footnotes, and list numbers are written in the numeral systems of Office programs.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree

from scraper.extract.markdown import converter
from scraper.extract.markdown.table_rules import row_cells, table_rows
from scraper.html.dom.parsing import Element, collect_names, parse_html, text_of
from scraper.html.page import hidden_elements
from scraper.text.numerals import format_numeral
from scraper.text.sanitize import clean_line

ITEM_NUMBER = "\ue0f2{}\ue0f3"
"""Template of the placeholder for the number of a list item, at the start of its text."""
CODE_CHARACTERS = frozenset("{}();=<>[]$#|")
"""Characters by which monospaced text counts as code."""
HEADING_STYLE = re.compile(r"(?:heading|berschrift|titre|titolo|t[ií]tulo|rubrik|kop)\s*([1-9])(?!\d)", re.IGNORECASE)
"""Name or ID of a style for headings, with their level."""
MONOSPACED_FONT = re.compile(r"courier|consolas|mono|menlo|monaco", re.IGNORECASE)
REPEATED_CHARS = 200
"""Characters. Repeat the text of a merged cell in every row and column it spans, because rows are read one by one.
Longer texts appear once."""

_BASE_URL = "http://file.invalid/"
TAG = re.compile(r"<[^>]*>")
_ITEM_NUMBER = re.compile("\\s*\ue0f2(-?\\d+)\ue0f3")
_MAX_SPAN = 100
_LABEL = r"(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.){0,300}\]){0,2000}"
"""Text of a link, which may hold brackets or a picture."""


def warm_up() -> None:
    """Load the modules that the Markdown converter imports late."""
    html_to_markdown("<p>a</p><table><tr><th>a</th><th>b</th></tr></table><math><mi>a</mi></math>", "")


def html_to_markdown(html: str, url: str) -> str:
    """Convert HTML blocks to Markdown; resolve links against `url`. Merged cells are split."""
    root = parse_html(f"<html><body>{html}</body></html>").root
    if root is None:
        return ""
    _flatten_inner_tables(root)
    for table in list(root.iter("table")):
        _split_merged_cells(table)
    for item in root.iter("li"):
        # Move the number at the start of an item's text to its attribute.
        element = item
        while not (element.text or "").strip() and len(element):
            element = element[0]
        match = _ITEM_NUMBER.match(element.text or "")
        if match:
            element.text = (element.text or "")[match.end() :]
            item.set("value", match[1])
    for box in root.iter("input"):  # Check boxes of mammoth.
        box.tag, box.text = "span", "- [x] " if box.get("checked") else "- [ ] "
    return remove_internal_links(converter.convert(root, url or _BASE_URL).markdown, url or _BASE_URL)


def convert_html(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the Markdown of HTML whose links are absolute, and warnings about hidden parts, which are left out.

    The Markdown is empty if the HTML cannot be parsed.
    """
    try:
        root = parse_html(text).root
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        return "", ()
    hidden, _, _ = hidden_elements.remove_styled(root, collect_names(root).attributes)
    warnings = (f"Hidden parts of HTML are left out: {hidden:,}.",) if hidden else ()
    return remove_internal_links(converter.convert(root, _BASE_URL).markdown, _BASE_URL), warnings


def remove_internal_links(text: str, base: str) -> str:
    """Remove links into the file itself and, with a placeholder as base, all relative links; keep their text.

    Pictures inside of the file keep their description.
    """
    own = re.escape(base if base.endswith(".invalid/") else f"{base}#")
    text = re.sub(rf"(?<!\!)\[({_LABEL})\]\({own}[^()\s]*\)", r"\1", text)
    return re.sub(rf"!\[({_LABEL})\]\({own}[^()\s]*\)", r"(image: \1)", text)


def _flatten_inner_tables(root: Element) -> None:
    """Replace tables in cells by their text, unless the cell is alone in its table and only frames the inner one."""
    cell_counts = {table: sum(len(row_cells(row)) for row in table_rows(table)) for table in root.iter("table")}
    for table in list(cell_counts):
        parent = table.getparent()
        if parent is None or not any(cell_counts[outer] > 1 for outer in table.iterancestors("table")):
            continue
        texts = (" ".join(text_of(cell).split()) for row in table_rows(table) for cell in row_cells(row))
        paragraph = etree.Element("p")
        paragraph.text = " ".join(filter(None, texts))
        paragraph.tail = table.tail
        parent.replace(table, paragraph)


def _split_merged_cells(table: Element) -> None:
    below: dict[int, tuple[int, Element]] = {}
    """Number of rows to fill and the cell, by column."""
    for row in list(table_rows(table)):
        column = 0
        for cell in row_cells(row):
            column = _fill_from_above(row, cell, column, below)
            columns, rows = _pop_span(cell, "colspan"), _pop_span(cell, "rowspan")
            for step in range(columns):
                if step:
                    cell.addnext(_copy_cell(cell))
                if rows > 1:
                    below[column + step] = (rows - 1, cell)
            column += columns
        _fill_from_above(row, None, column, below)


def _fill_from_above(row: Element, before: Element | None, column: int, below: dict[int, tuple[int, Element]]) -> int:
    while column in below:
        remaining, cell = below.pop(column)
        if remaining > 1:
            below[column] = (remaining - 1, cell)
        if before is None:
            row.append(_copy_cell(cell))
        else:
            before.addprevious(_copy_cell(cell))
        column += 1
    return column


def _pop_span(cell: Element, name: str) -> int:
    value = cell.attrib.pop(name, "1")
    return max(1, min(_MAX_SPAN, int(value))) if str(value).isdigit() else 1


def _copy_cell(cell: Element) -> Element:
    if len(text_of(cell)) > REPEATED_CHARS:
        return etree.Element(str(cell.tag))
    copied = copy.deepcopy(cell)
    copied.tail = None
    return copied


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell of an HTML table, and the rows and columns that it spans."""

    text: str = ""
    columns: int = 1
    rows: int = 1
    covered: bool = False


def write_table(rows: Sequence[Sequence[TableCell]]) -> str:
    """Return an HTML table whose first row is the header; the texts are HTML."""
    rows = [row for row in rows if row]
    if not any(cell.text for row in rows for cell in row):
        return ""
    body = []
    headed = max(map(len, rows)) > 1
    for at, row in enumerate(rows):
        tag = "th" if headed and not at else "td"
        cells = (
            f'<{tag} colspan="{cell.columns}" rowspan="{cell.rows}">'
            f"{_header_text(cell.text) if tag == 'th' else cell.text}</{tag}>"
            for cell in row
            if not cell.covered
        )
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(body)}</table>"


def _header_text(text: str) -> str:
    """Return a header cell's text without bold, which all headers have."""
    is_bold = text.startswith("<p><b>") and text.endswith("</b></p>") and text.count("<b>") == 1
    return text[6:-8] if is_bold else text


def apply_format(html: str, *, bold: bool, italic: bool, struck: bool, raised: str) -> str:
    """Wrap text in the HTML elements of its format; `raised` is `sup`, `sub` or empty."""
    if not html.strip():
        return html
    tags = [tag for tag, is_set in (("b", bold), ("i", italic), ("s", struck), (raised, raised)) if is_set]
    return "".join(f"<{tag}>" for tag in tags) + html + "".join(f"</{tag}>" for tag in reversed(tags))


_COMMENT_PLACEHOLDER = re.compile("\ue0f4(\\d+)\ue0f5")
"""Markdown's own characters would be escaped."""
_MAX_COMMENTS = 1_000
_MAX_COMMENT_CHARS = 4_000


class ReviewComments:
    """Reviewers' comments on passages of one document, in text order."""

    def __init__(self) -> None:
        """Begin without comments."""
        self._lines: list[str] = []

    def add(self, author: str, date: str, text: str, *, is_resolved: bool = False) -> str:
        """Return the placeholder for a comment in the text; empty without a text, and after 1,000 comments."""
        if not text.strip() or len(self._lines) >= _MAX_COMMENTS:
            return ""
        facts = (clean_line(author, 100) or "Comment", date[:10], "resolved" if is_resolved else "")
        self._lines.append(f"{', '.join(filter(None, facts))}: {clean_line(text, _MAX_COMMENT_CHARS)}")
        return f"\ue0f4{len(self._lines)}\ue0f5"

    def insert(self, markdown: str) -> str:
        """Replace the placeholders by note references, and append the comments."""
        text = _COMMENT_PLACEHOLDER.sub(lambda match: f"[^comment-{match[1]}]", markdown)
        notes = (f"[^comment-{number}]: {line}" for number, line in enumerate(self._lines, 1))
        return "\n\n".join(filter(None, (text, *notes)))


_MAX_COUNT = 100_000


@dataclass(frozen=True, slots=True)
class ListLevel:
    """Label format of one list level."""

    style: str = "decimal"
    """One of Word's number styles; `bullet` or `none` without a number."""
    pattern: str = "%1."
    """Label, with `%1` for the count of the highest level; `%0` is the tenth, which only OpenDocument has."""
    start: int = 1
    restarts_after: int | None = None
    """Level, from 1, whose count restarts this one, as do higher levels. None means any higher level, 0 none."""
    legal: bool = False
    """All numbers of the label are decimal."""

    @property
    def is_plain(self) -> bool:
        """Return True if it counts 1, 2, 3, as Markdown lists do."""
        return self.style == "decimal" and re.fullmatch(r"\W*%\d\W*", self.pattern) is not None


@dataclass(slots=True)
class ListCounter:
    """Counts of one list by level, from 0."""

    levels: Mapping[int, ListLevel]
    counts: dict[int, int] = field(default_factory=dict)

    def count(self, at: int, start: int | None = None) -> int:
        """Increment the count of a level, or set it to `start`, and return it; deeper levels restart.

        A skipped level counts as begun: 2.1.1 is followed by 2.2.
        """
        for above in [other for other in self.levels if other < at]:
            self.counts.setdefault(above, self.levels[above].start)
        first = self.levels.get(at, ListLevel()).start
        self.counts[at] = min(self.counts.get(at, first - 1) + 1 if start is None else start, _MAX_COUNT)
        for deeper in [other for other in self.counts if other > at]:
            restarts_after = self.levels.get(deeper, ListLevel()).restarts_after
            if restarts_after is None or (restarts_after != 0 and at < restarts_after):
                del self.counts[deeper]
        return self.counts[at]

    def label(self, at: int) -> str:
        """Return the label of the last count of a level; empty if it has none."""
        level = self.levels.get(at, ListLevel("none"))

        def numeral(match: re.Match[str]) -> str:
            shown = (int(match[1]) or 10) - 1
            other = self.levels.get(shown, ListLevel())
            return format_numeral(self.counts.get(shown, other.start), "decimal" if level.legal else other.style)

        return "" if level.style in ("bullet", "none") else re.sub("%([0-9])", numeral, level.pattern).strip()
