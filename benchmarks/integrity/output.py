"""Parse the Markdown that a reader wrote into blocks of text, with one stream of words over all of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from benchmarks.integrity.visible import squash, tokens_of

_PARSER = (
    MarkdownIt("commonmark", {"html": True})
    .enable(["table", "strikethrough"])
    .use(footnote_plugin)
    .use(deflist_plugin)
    .use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
)
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)[^>]*>")
_MARKS = {"sup": "raised", "sub": "raised", "del": "struck", "s": "struck"}
_LEAVES = {
    "fence": "code",
    "code_block": "code",
    "math_block": "math",
    "math_block_label": "math",
    "html_block": "html",
}
_NAMED = ("heading", "paragraph", "th", "td", "dt", "dd")
"""Nodes whose tag is the kind of the blocks in them."""


@dataclass(eq=False)
class Block:
    """A paragraph, heading, cell, line of a list or the like."""

    kind: str
    """Tag, or `code`, `math` or `html`."""
    text: str
    marker: str = ""
    """Marker of the list item that the block begins."""
    in_footnote: bool = False
    cell: tuple[int, int] | None = None
    """Row and column of a table."""
    links: list[tuple[str, str]] = field(default_factory=list)
    """Texts and addresses."""
    images: list[tuple[str, str]] = field(default_factory=list)
    """Descriptions and addresses."""
    struck: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    """Raised and lowered texts, and formulas."""
    notes: list[str] = field(default_factory=list)
    """Labels of footnotes that the block refers to."""

    @cached_property
    def tokens(self) -> list[str]:
        """Words as they are compared."""
        return tokens_of(self.text)


@dataclass
class Output:
    """All blocks. `squashed` is the text of all tokens without borders; places are positions in it."""

    blocks: list[Block]

    def __post_init__(self) -> None:
        self.tokens = [token for block in self.blocks for token in block.tokens]
        self.owners = [number for number, block in enumerate(self.blocks) for _ in block.tokens]
        self.squashed = "".join(self.tokens)
        self.starts: list[int] = []
        at = 0
        for token in self.tokens:
            self.starts.append(at)
            at += len(token)

    def block_at(self, place: int) -> Block | None:
        """Return the block at a place."""
        if place < 0 or not self.starts:
            return None
        return self.blocks[self.owners[max(0, bisect_right(self.starts, place) - 1)]]

    @cached_property
    def image_files(self) -> set[str]:
        """Names of the files of all images."""
        return {file_name(address) for block in self.blocks for _, address in block.images}

    @cached_property
    def image_names(self) -> set[str]:
        """Descriptions of all images, squashed."""
        return {squash(name) for block in self.blocks for name, _ in block.images}


def file_name(address: str) -> str:
    """Return the last part of an address without its query."""
    return address.partition("?")[0].rstrip("/").rpartition("/")[2].lower()


def read_markdown(source: str) -> Output:
    """Parse Markdown into blocks."""
    collector = _Collector()
    collector.collect(SyntaxTreeNode(_PARSER.parse(source)), "p", in_footnote=False)
    return Output(collector.blocks)


class _Collector:
    """Collect the blocks of a parsed text. The parser limits its depth, so recursion is safe."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._marker = ""
        self._cell: tuple[int, int] | None = None

    def collect(self, node: SyntaxTreeNode, kind: str, *, in_footnote: bool) -> None:
        if node.type in _LEAVES:
            text = _TAG.sub(" ", node.content) if node.type == "html_block" else node.content
            self._add(Block(_LEAVES[node.type], text, in_footnote=in_footnote))
        elif node.type == "inline":
            block = Block(kind, "", in_footnote=in_footnote, cell=self._cell)
            _read_inline(block, node.token.children if node.token is not None and node.token.children else [])
            self._add(block)
        elif node.type == "table":
            self._collect_table(node)
        else:
            inner = node.tag if node.type in _NAMED else kind
            in_footnote = in_footnote or node.type.startswith("footnote")
            for number, child in enumerate(node.children):
                if child.type == "list_item":
                    self._marker = _marker(node, child, number)
                self.collect(child, inner, in_footnote=in_footnote)

    def _collect_table(self, table: SyntaxTreeNode) -> None:
        rows = [row for part in table.children for row in part.children]
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells.children):
                self._cell = (row, column)
                self.collect(cell, cell.tag, in_footnote=False)
        self._cell = None

    def _add(self, block: Block) -> None:
        block.marker, self._marker = self._marker, ""
        self.blocks.append(block)


def _marker(parent: SyntaxTreeNode, item: SyntaxTreeNode, number: int) -> str:
    if parent.type == "ordered_list":
        return f"{int(parent.attrs.get('start', 1)) + number}{item.markup}"
    return item.markup


def _read_inline(block: Block, tokens: Iterable[Token]) -> None:
    """Fill a block with the text and the marks of inline tokens."""
    pieces: list[str] = []
    opened: list[tuple[str, int, str]] = []

    def close(mark: str) -> None:
        if any(name == mark for name, _, _ in opened):
            while opened:
                name, at, address = opened.pop()
                if name == mark:
                    break
            text = "".join(pieces[at:])
            if mark == "links":
                block.links.append((text, address))
            else:
                getattr(block, mark).append(text)

    for token in tokens:
        kind = token.type
        tag = _TAG.match(token.content) if kind == "html_inline" else None
        if kind in ("text", "code_inline"):
            pieces.append(token.content)
        elif kind in ("softbreak", "hardbreak") or (tag is not None and tag[2] == "br"):
            pieces.append("\n")
        elif kind == "image":
            block.images.append((token.content, str(token.attrGet("src") or "")))
        elif kind.startswith("math_inline"):
            block.raised.append(token.content)
            pieces.append(f" {token.content} ")
        elif kind == "footnote_ref":
            block.notes.append(str(token.meta.get("label", token.meta.get("id"))))
        elif kind in ("link_open", "s_open"):
            opened.append(("links" if kind == "link_open" else "struck", len(pieces), str(token.attrGet("href") or "")))
        elif kind in ("link_close", "s_close"):
            close("links" if kind == "link_close" else "struck")
        elif tag is not None and tag[2] in _MARKS:
            if tag[1]:
                close(_MARKS[tag[2]])
            else:
                opened.append((_MARKS[tag[2]], len(pieces), ""))
    block.text = "".join(pieces)
