"""Blocks from the structure tree of a tagged PDF, if the tags cover the page and are meaningful."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from scraper.documents.pdf.blocks import format_code, is_code
from scraper.documents.pdf.layout_model import BlockKind, LayoutBlock, LayoutPage, LayoutRow, Span, TagNode, TextRun
from scraper.documents.pdf.table_cells import split_row
from scraper.documents.pdf.text_assembly import group_adjacent, join_lines, split_mark, text_of_row

_HEADINGS = {"H": 2, "Title": 1, "H1": 1, "H2": 2, "H3": 3, "H4": 4, "H5": 5, "H6": 6}
_TEXTS = frozenset("P Caption Note FENote TOCI Formula BibEntry Quote Figure Annot Normal Em Strong".split())
_ROW_GROUPS = frozenset({"THead", "TBody", "TFoot"})
_MIN_TAGGED = 0.97
"""Ratio of the text outside the margins: untagged text there must be read too."""
_MIN_IN_BLOCKS = 0.9
"""Minimum ratio of the tagged text that is in block elements."""
_MARGIN = 0.1
_SAME_ROW = 0.45
_MAX_PARAGRAPH_CHARS = 4_000
"""Characters. A longer paragraph is a page that was tagged as a whole."""
_MIN_CELLS, _MAX_TABULAR_ROWS = 4, 5
"""Cells of a row of a table, and rows that may look so in a paragraph."""
_MIN_BLOCKS = 2
_MAX_COLUMNS = 100
_MAX_ROWS = 2_000


def read_tagged_blocks(page: LayoutPage) -> list[LayoutBlock] | None:
    """Return the blocks of a page by its tags, or None if the tags do not cover the text in blocks."""
    if not page.tags:
        return None
    tagged: dict[int, list[TextRun]] = defaultdict(list)
    for run in page.runs:
        if run.mark is not None:
            tagged[run.mark].append(run)
    reader = _TagReader(tagged, _find_owners(page.tags, tagged))
    blocks = [block for node in page.tags for block in reader.blocks(node, 0)]
    if len(blocks) < _MIN_BLOCKS or not _is_reliable(page, reader, blocks):
        return None
    return blocks


def _is_reliable(page: LayoutPage, reader: "_TagReader", blocks: Sequence[LayoutBlock]) -> bool:
    inner = [run for run in page.runs if run.y0 > _MARGIN * page.height and run.y1 < (1 - _MARGIN) * page.height]
    characters = sum(len(run.text) for run in inner)
    tagged = sum(len(run.text) for run in inner if run.mark in reader.used)
    has_blocks = reader.characters - reader.outside_blocks >= _MIN_IN_BLOCKS * reader.characters
    longest = max((sum(map(len, block.lines)) for block in blocks if block.kind is BlockKind.TEXT), default=0)
    is_text = not reader.has_tabular_text and longest <= _MAX_PARAGRAPH_CHARS
    return tagged >= _MIN_TAGGED * characters and has_blocks and is_text


class _TagReader:
    """Traversal of one page; records the runs it used, and those outside of any block."""

    def __init__(self, tagged: dict[int, list[TextRun]], owners: dict[int, int]) -> None:
        self.used: set[int] = set()
        self.characters = 0
        self.outside_blocks = 0
        self.has_tabular_text = False
        """True if the rows of a paragraph have cells: a table was tagged as text."""
        self._tagged = tagged
        self._owners = owners

    def blocks(self, node: TagNode, depth: int) -> Iterator[LayoutBlock]:
        if node.kind in _HEADINGS:
            rows = _rows(self._runs(node))
            if any(lines := tuple(map(text_of_row, rows))):
                size = max(row.size for row in rows)
                yield LayoutBlock(BlockKind.HEADING, lines, size=size, level=_HEADINGS[node.kind])
        elif node.kind == "Table":
            yield from self._table(node)
        elif node.kind == "L":
            yield from self._list(node, depth)
        elif node.kind in _TEXTS or node.kind == "Code":
            yield from self._texts(node, depth)
        else:
            yield from self._direct_text(node)
            for child in node.children:
                yield from self.blocks(child, depth)

    def _texts(self, node: TagNode, depth: int) -> Iterator[LayoutBlock]:
        """Yield a paragraph, and the blocks nested in it against the rules."""
        inner = [child for child in node.children if child.kind in ("Table", "L", "P", "Code", *_HEADINGS)]
        yield from self._paragraph(self._runs(node, without=inner), code=node.kind == "Code")
        for child in inner:
            yield from self.blocks(child, depth)

    def _direct_text(self, node: TagNode) -> Iterator[LayoutBlock]:
        runs = [run for mark in node.marks for run in self._take(mark, node)]
        self.outside_blocks += sum(len(run.text) for run in runs)
        yield from self._paragraph(runs, code=False)

    def _paragraph(self, runs: Sequence[TextRun], *, code: bool) -> Iterator[LayoutBlock]:
        rows = _rows(runs)
        if not rows:
            return
        cells = [len(split_row(row).segments) for row in rows]
        self.has_tabular_text = self.has_tabular_text or sum(count >= _MIN_CELLS for count in cells) > _MAX_TABULAR_ROWS
        size, bold = max(row.size for row in rows), all(row.bold for row in rows)
        if (code or all(row.mono for row in rows)) and is_code(rows):
            yield LayoutBlock(BlockKind.CODE, format_code(rows), size=size)
        else:
            yield LayoutBlock(BlockKind.TEXT, tuple(map(text_of_row, rows)), size=size, bold=bold)

    def _list(self, node: TagNode, depth: int) -> Iterator[LayoutBlock]:
        for item in node.children:
            if item.kind == "L":
                yield from self._list(item, depth + 1)
            elif item.kind == "LI":
                yield from self._item(item, depth)
            else:
                yield from self.blocks(item, depth)

    def _item(self, node: TagNode, depth: int) -> Iterator[LayoutBlock]:
        inner = [one for one in _iter_nodes(node.children, ("L", "Table")) if one.kind in ("L", "Table")]
        labels = [child for child in node.children if child.kind == "Lbl"]
        label = "".join(run.text for child in labels for run in self._runs(child)).strip()
        rows = _rows(self._runs(node, without=[*inner, *labels]))
        lines = list(map(text_of_row, rows))
        if label and lines and lines[0].startswith(label):
            lines[0] = lines[0][len(label) :].strip()
        if not any(lines) and label:  # The label contains the whole item.
            mark, content = split_mark(label)
            label, lines = mark or "", [content]
        if any(lines):
            number = label if any(map(str.isalnum, label)) else ""
            size = max((row.size for row in rows), default=0.0)
            yield LayoutBlock(BlockKind.ITEM, tuple(lines), size=size, level=min(depth, 8), label=number)
        for child in inner:
            yield from self.blocks(child, depth + 1)

    def _table(self, node: TagNode) -> Iterator[LayoutBlock]:
        for child in node.children:
            if child.kind == "Caption":
                yield from self._texts(child, 0)
        rows = [[self._cell(cell) for cell in row.children if cell.kind in ("TD", "TH")] for row in _table_rows(node)]
        yield from self._direct_text(node)
        grid = _fill_spans(rows)
        if any(any(row) for row in grid):
            yield LayoutBlock(BlockKind.TABLE, table=tuple(tuple(row) for row in grid if row))

    def _cell(self, node: TagNode) -> "TaggedCell":
        rows = _rows(self._runs(node))
        span = (min(row.x0 for row in rows), max(row.x1 for row in rows)) if rows else None
        return TaggedCell(join_lines(map(text_of_row, rows)), node.column_span, node.row_span, span)

    def _runs(self, node: TagNode, without: Sequence[TagNode] = ()) -> list[TextRun]:
        """Return the runs of an element in drawing order."""
        excluded = {id(inner) for inner in without}

        def gather(part: TagNode) -> list[tuple[int, TagNode]]:
            own = [(mark, part) for mark in part.marks]
            inner = [mark for child in part.children if id(child) not in excluded for mark in gather(child)]
            # Only the marked content IDs order an element's own text among that of its children.
            return sorted(own + inner, key=lambda pair: pair[0]) if own and inner else own + inner

        return [run for mark, part in gather(node) for run in self._take(mark, part)]

    def _take(self, mark: int, node: TagNode) -> list[TextRun]:
        if mark in self.used or self._owners.get(mark, id(node)) != id(node):
            return []
        runs = self._tagged.get(mark, [])
        self.used.add(mark)
        self.characters += sum(len(run.text) for run in runs)
        return runs


def _find_owners(tags: Sequence[TagNode], tagged: dict[int, list[TextRun]]) -> dict[int, int]:
    """Return the owners of marked content IDs that several elements claim.

    An element over several pages lists its IDs on all of them, and each page counts from 0. IDs grow in element order,
    so the owner is the element whose neighbors' IDs enclose them.
    """
    claims = [(mark, id(node)) for node in _iter_nodes(tags) for mark in node.marks if mark in tagged]
    counts = Counter(mark for mark, _ in claims)
    owners: dict[int, int] = {}
    misfits: dict[int, int] = {}
    before = -1
    for index, (mark, owner) in enumerate(claims):
        if counts[mark] == 1:
            before = mark
            continue
        after = next((other for other, _ in claims[index + 1 : index + 50] if counts[other] == 1), mark)
        misfit = (before > mark) + (after < mark)
        if mark not in owners or misfit < misfits[mark]:
            owners[mark], misfits[mark] = owner, misfit
    return owners


def _iter_nodes(nodes: Sequence[TagNode], closed: Container[str] = ()) -> Iterator[TagNode]:
    """Yield elements with all that is in them; do not descend into the `closed` kinds."""
    for node in nodes:
        yield node
        if node.kind not in closed:
            yield from _iter_nodes(node.children, closed)


def _rows(runs: Sequence[TextRun]) -> list[LayoutRow]:
    """Split runs in their order into rows, with a new row where the height changes."""
    groups = group_adjacent(
        runs, lambda group, run: abs(run.middle - group[-1].middle) < _SAME_ROW * max(4.0, run.y1 - run.y0)
    )
    return [LayoutRow(tuple(sorted(group, key=lambda run: run.x0))) for group in groups]


def _table_rows(node: TagNode) -> Iterator[TagNode]:
    for child in node.children:
        if child.kind == "TR":
            yield child
        elif child.kind in _ROW_GROUPS or child.kind == "NonStruct":
            yield from _table_rows(child)


class TaggedCell(NamedTuple):
    """One cell and the horizontal range of its text; None if it has no text."""

    text: str
    column_span: int
    row_span: int
    span: Span | None


def _fill_spans(rows: Sequence[Sequence[TaggedCell]]) -> list[list[str]]:
    """Return the texts by row and column; a spanning cell's text is in its first position.

    Programs leave empty cells untagged: a text further right than its column, below a later one, belongs to that one.
    """
    width = max((sum(cell.column_span for cell in row) for row in rows), default=0)
    ranges = _column_ranges(rows, width)
    grid: list[list[str]] = []
    covered: set[tuple[int, int]] = set()
    for number, row in enumerate(rows[:_MAX_ROWS]):
        line: list[str] = []
        missing = width - sum(cell.column_span for cell in row) - sum((number, x) in covered for x in range(width))
        for cell in row:
            while (number, len(line)) in covered:
                line.append("")
            while missing > 0 and cell.span is not None and _is_further_right(cell.span[0], ranges[len(line) :]):
                line.append("")
                missing -= 1
            covered |= {
                (number + down, len(line) + right)
                for down in range(1, min(cell.row_span, len(rows) - number))
                for right in range(cell.column_span)
            }
            line += [cell.text, *[""] * (cell.column_span - 1)]
        grid.append(line[:_MAX_COLUMNS])
    return grid


def _column_ranges(rows: Sequence[Sequence[TaggedCell]], width: int) -> list[Span | None]:
    """Return the horizontal range of each column's text, from rows with all cells."""
    columns: list[list[Span]] = [[] for _ in range(width)]
    for row in rows:
        for column, cell in zip(columns, row, strict=False) if len(row) == width else ():
            column += [cell.span] if cell.span else []
    return [(min(spans)[0], max(end for _, end in spans)) if spans else None for spans in columns]


def _is_further_right(x0: float, ranges: Sequence[Span | None]) -> bool:
    here, *later = ranges or [None]
    return (here is None or x0 >= here[1]) and any(span is not None and x0 >= span[0] - 2 for span in later)
