"""Build blocks from rows, also across page breaks: paragraphs, list items, code, headings; write them as Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter

from scraper.documents.markdown_writing import escape_text, pipe_table
from scraper.documents.pdf.layout_model import BlockKind, LayoutBlock, LayoutPage, LayoutRow
from scraper.documents.pdf.text_assembly import group_adjacent, join_lines, split_mark, text_of_row
from scraper.text.markdown_structure import fence

_LARGER = 0.9
"""Points of font size by which a heading differs from the text after it."""
_LOOSE = 1.25
_USUAL_LEADING = 1.2
_SHORT = 0.75
"""Ratio to the column width. A shorter line that ends a sentence ends the paragraph."""
_INDENT = 0.9
_LEADER = re.compile(r"(?<![.\u2026\u00b7])(?<![.\u2026\u00b7]\s)(?:\s?[.\u2026\u00b7]){4,}+\s*(\d{1,4}|[ivxlc]{1,7})$")
_CODE_CHARACTERS = frozenset("{}();=<>[]$#|")
_ENDS = tuple('.!?:;"\u201d\u3002')


def build_blocks(rows: Sequence[LayoutRow]) -> Iterator[LayoutBlock]:
    """Yield the blocks of consecutive rows without a table between them; indented list items are nested."""
    if not rows:
        return
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    # Line distance as a multiple of the font size.
    shares = sorted(
        (b.y0 - a.y0) / max(1.0, b.size)
        for a, b in pairwise(rows)
        if b.y0 > a.y0 and not (a.mono or b.mono) and abs(a.size - b.size) <= _LARGER
    )
    leading = shares[len(shares) // 4] if shares else _USUAL_LEADING
    edges: list[float] = []
    for group in group_adjacent(rows, lambda group, row: not _starts_block(group, row, left, right, leading)):
        block, edge = _block(group), group[0].x0
        while edges and (block.kind is not BlockKind.ITEM or edge < edges[-1] - block.size):
            edges.pop()
        if block.kind is BlockKind.ITEM and (not edges or edge > edges[-1] + block.size):
            edges.append(edge)
        yield replace(block, level=max(0, len(edges) - 1))


def _starts_block(group: Sequence[LayoutRow], row: LayoutRow, left: float, right: float, leading: float) -> bool:
    """Return True if a row begins a new block; `leading` is the line distance per font size."""
    above, step = group[-1], leading * row.size
    distance = row.y0 - above.y0
    text, first = text_of_row(row), text_of_row(group[0])
    if row.mono and above.mono:
        return distance > 1.6 * step or distance < 0
    if row.mono != above.mono or abs(row.size - above.size) > _LARGER or row.bold != above.bold or distance < 0:
        return True
    if distance > max(_LOOSE * step + 1.0, 1.3 * row.size):
        return True
    text_above = first if len(group) == 1 else text_of_row(above)
    if _LEADER.search(text_above) or split_mark(text)[0] is not None:
        return True
    ended = text_above.endswith(_ENDS)
    if ended and above.x1 < right - (1 - _SHORT) * (right - left) and distance > 1.08 * step:
        return True
    if split_mark(first)[0] is not None:
        return row.x0 < group[0].x0 + (1 if ended and len(group) > 1 else -1)
    return ended and row.x0 - above.x0 > _INDENT * row.size and above.x0 - left < 2


def _block(rows: Sequence[LayoutRow]) -> LayoutBlock:
    lines = tuple(map(text_of_row, rows))
    size = max(row.size for row in rows)
    if all(row.mono for row in rows) and is_code(rows):
        return LayoutBlock(BlockKind.CODE, format_code(rows), size=size)
    if len(lines) == 1 and _LEADER.search(lines[0]):  # A line of a table of contents.
        return LayoutBlock(BlockKind.ITEM, (_LEADER.sub(r" … \1", lines[0]),), size=size)
    mark, content = split_mark(lines[0])
    bold = all(row.bold for row in rows)
    if mark is not None and content:
        return LayoutBlock(BlockKind.ITEM, (content, *lines[1:]), size=size, bold=bold, label=mark)
    return LayoutBlock(BlockKind.TEXT, lines, size=size, bold=bold)


def is_code(rows: Sequence[LayoutRow]) -> bool:
    """Return True if monospaced rows are code: several rows, or one with characters of code."""
    return len(rows) > 1 or not _CODE_CHARACTERS.isdisjoint(text_of_row(rows[0]))


def format_code(rows: Sequence[LayoutRow]) -> tuple[str, ...]:
    """Return lines of code with their indents and inner spaces."""
    left = min(row.x0 for row in rows)
    widths = [(run.x1 - run.x0) / len(run.text) for row in rows for run in row.runs if len(run.text) > 2]
    width = sorted(widths)[len(widths) // 2] if widths else 5.0
    lines = []
    for row in rows:
        line = ""
        for run in row.runs:
            column = round((run.x0 - left) / max(width, 1.0))
            line += " " * max(0, column - len(line)) + run.text
        lines.append(line.rstrip())
    return tuple(lines)


_MOSTLY_MONO, _CODE_SHARE = 0.6, 0.25
"""Ratios of a document's letters in fonts of a fixed width, and of these lines with a sign of code."""
_CODE_SIGN = re.compile(r"[{}=<>\[\]$#|\\]|\w\(|;\s*$")


def unmark_monospaced_prose(pages: Sequence[LayoutPage]) -> list[LayoutPage]:
    """Clear `mono` in a typescript, or the text layer of a scan, so that it does not count as code."""
    runs = [run for page in pages for run in page.runs]
    mono = [run.text for run in runs if run.mono]
    signs = sum(_CODE_SIGN.search(text) is not None for text in mono)
    if sum(map(len, mono)) <= _MOSTLY_MONO * sum(len(run.text) for run in runs) or signs > _CODE_SHARE * len(mono):
        return list(pages)
    return [replace(page, runs=tuple(run._replace(mono=False) for run in page.runs)) for page in pages]


_HEADING_SIZE_RATIO = 0.9
_MAX_LARGE_CHARS = 200
_MAX_BOLD_CHARS = 120
_MAX_TITLE_WORDS = 12
"""Words of a heading that ends with a period."""
_MAX_LEVEL = 5
_CAPTION = re.compile(r"(?:figure|fig\.|table|tab\.|abbildung|abb\.|tabelle|chart|exhibit|source)\s*[\dIVX]", re.I)
_FORMULA = re.compile(r"\$[^$]+\$|(?=[^=]*=)(?:[^\W\d_]{0,2}[\W\d_])*[^\W\d_]{0,2}")
"""A formula: no heading, though it is set larger than the text."""
_SECTION = re.compile(r"((?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4})\.?\s+[^\W\d_]")
_SENTENCE_ENDS = (".", ",", ";", ":")
_PROSE = (BlockKind.TEXT, BlockKind.ITEM)


def mark_headings(blocks: Sequence[LayoutBlock], body_size: float) -> list[LayoutBlock]:
    """Return the blocks with headings marked as such; `body_size` is the font size of the body in points."""
    # The author has marked headings: of other text only a title is one.
    body_size = max([body_size, *(block.size for block in blocks if block.kind is BlockKind.HEADING)])
    sizes = {block.size for block in blocks if _is_large(block, body_size)}
    groups = group_adjacent(sorted(sizes, reverse=True), lambda group, size: group[-1] - size <= 0.5)
    levels = {size: min(index, _MAX_LEVEL) for index, group in enumerate(groups, 1) for size in group}
    below = min(len(groups), _MAX_LEVEL) + 1
    marked = [_mark_heading(block, levels, body_size, below) for block in blocks]
    sections = _find_sections(blocks)
    tops = [marked[at].level for at, number in sections.items() if len(number) == 1 and marked[at].level]
    for at, number in sections.items():
        if blocks[at].kind is not BlockKind.HEADING:
            marked[at] = _as_heading(blocks[at], min(min(tops, default=below) + len(number) - 1, _MAX_LEVEL + 1))
    return marked


def _find_sections(blocks: Sequence[LayoutBlock]) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the numbered headings by the index of their block; empty if they do not count on.

    Each follows the one before: 1, 2, 2.1, 2.2, 3. Text stands between them, unlike between the items of a list.
    """
    numbers = [_section_number(block) for block in blocks]
    styles: dict[int, tuple[float, bool]] = {}
    found: dict[int, tuple[int, ...]] = {}
    last: tuple[int, ...] = (0,)
    for at, number in enumerate(numbers):
        following = {(*last, 1), (ord("A"),), *((*last[:depth], last[depth] + 1) for depth in range(len(last)))}
        if number not in following or (number == (ord("A"),) and not found):
            continue
        style, after = (blocks[at].size, blocks[at].bold), numbers[at + 1 : at + 2]
        is_heading = after and (
            (*number, 1) == after[0] or (not after[0] and blocks[at + 1].kind is not BlockKind.ITEM)
        )
        if is_heading and styles.setdefault(len(number), style) == style:
            found[at] = last = number
    return found if sum(len(number) == 1 for number in found.values()) > 2 else {}


def _section_number(block: LayoutBlock) -> tuple[int, ...]:
    """Return the parts of the number of a short line, with letters as their code points; empty without a number."""
    text = f"{block.label} {' '.join(block.lines)}".strip()
    number = _SECTION.match(text)
    if number is None or block.kind not in (*_PROSE, BlockKind.HEADING) or len(block.lines) > 2:
        return ()
    if len(text) > _MAX_BOLD_CHARS or text.endswith(_SENTENCE_ENDS):
        return ()
    return tuple(int(part) if part.isdecimal() else ord(part) for part in number[1].split("."))


def _mark_heading(block: LayoutBlock, levels: dict[float, int], body_size: float, below: int) -> LayoutBlock:
    text = " ".join(block.lines)
    if block.kind not in _PROSE or not any(map(str.isalpha, text)) or _FORMULA.fullmatch(text):
        return block
    if _is_large(block, body_size):
        return _as_heading(block, levels[block.size])
    if _is_bold_heading(block, text, body_size):
        return _as_heading(block, below)
    return block


def _is_bold_heading(block: LayoutBlock, text: str, body_size: float) -> bool:
    if not block.bold or len(block.lines) > 2 or not 2 < len(text) <= _MAX_BOLD_CHARS:
        return False
    if block.size < body_size - 0.6 or text.endswith(_SENTENCE_ENDS) or _CAPTION.match(text):
        return False
    return not ("a" <= text[0] <= "z")


def _as_heading(block: LayoutBlock, level: int) -> LayoutBlock:
    lines = block.lines
    if block.kind is BlockKind.ITEM:
        if not block.label:
            return block
        lines = (f"{block.label} {lines[0]}", *lines[1:])
    return replace(block, kind=BlockKind.HEADING, lines=lines, level=level, label="")


def _is_large(block: LayoutBlock, body_size: float) -> bool:
    return (
        (block.kind is BlockKind.TEXT or (block.kind is BlockKind.ITEM and block.label != ""))
        and block.size > body_size + _HEADING_SIZE_RATIO
        and sum(map(len, block.lines)) < _MAX_LARGE_CHARS
        and any(map(str.isalpha, "".join(block.lines)))
        and not (block.lines[-1].endswith(".") and sum(len(line.split()) for line in block.lines) > _MAX_TITLE_WORDS)
        and not _CAPTION.match(block.lines[0])
    )


def join_tables(pages: Sequence[list[LayoutBlock]]) -> list[list[LayoutBlock]]:
    """Join tables that continue at the top of the next page, on the page where they begin; drop a repeated header.

    A page that is one whole table remains separate: a list over many pages would lose its page marks.
    """
    joined = [list(blocks) for blocks in pages]
    for above, below in pairwise(joined):
        if not above or len(below) < 2 or not above[-1].table or not below[0].table:
            continue
        table, rows = above[-1].table, below[0].table
        if len(table[0]) == len(rows[0]):
            above[-1] = replace(above[-1], table=table + (rows[1:] if rows[0] == table[0] else rows))
            del below[0]
    return joined


def join_paragraphs(flows: Iterable[list[LayoutBlock]]) -> list[LayoutBlock]:
    """Return the blocks of a page; join a paragraph that continues in the next column."""
    joined: list[LayoutBlock] = []
    for blocks in flows:
        if joined and blocks and _is_unfinished(joined[-1], blocks[0]):
            last = joined.pop()
            blocks = [replace(last, lines=last.lines + blocks[0].lines), *blocks[1:]]
        joined += blocks
    return joined


def _is_unfinished(block: LayoutBlock, following: LayoutBlock) -> bool:
    """Return True if the paragraph's last line is incomplete and the next block continues it."""
    if block.kind not in _PROSE or following.kind is not BlockKind.TEXT:
        return False
    if abs(block.size - following.size) > 0.6 or block.bold != following.bold:
        return False
    end, start = block.lines[-1][-1:], following.lines[0][:1]
    return start.islower() and end not in ".!?:" and len(block.lines) + len(following.lines) > 2


def write_markdown(blocks: Sequence[LayoutBlock], vocabulary: frozenset[str]) -> str:
    """Return the blocks as Markdown, with nested lists.

    `vocabulary` has the words of the document, to decide about hyphens at line ends.
    """
    texts = ((block.kind is BlockKind.ITEM, text) for block in blocks if (text := _format_block(block, vocabulary)))
    groups = groupby(texts, key=itemgetter(0))
    return "\n\n".join(("\n" if is_list else "\n\n").join(text for _, text in group) for is_list, group in groups)


def _format_block(block: LayoutBlock, vocabulary: frozenset[str]) -> str:
    if block.kind is BlockKind.TABLE:
        return pipe_table(block.table)
    if block.kind is BlockKind.CODE:
        return fence("\n".join(block.lines), "")
    text = join_lines(block.lines, vocabulary)
    if not text:
        return ""
    if block.kind is BlockKind.HEADING:
        return f"{'#' * block.level} {text}"
    if block.kind is BlockKind.ITEM:
        return f"{'  ' * block.level}{_item_mark(block)} {text}"
    return escape_text(text)


def _item_mark(block: LayoutBlock) -> str:
    """Return a bullet, or the number if Markdown supports it.

    Numbers from 100 on are usually numbers of exercises or sections of a law, not of list items.
    """
    if not block.label:
        return "-"
    number, end = block.label[:-1], block.label[-1]
    if number.isdecimal() and len(number) > 2 and end in ".)":
        return f"**{block.label}**"
    return block.label if number.isdecimal() and end == "." else f"- {block.label}"
