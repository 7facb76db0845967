"""Show the Markdown of an answer in the forms in which checks compare it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from lxml import html
from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.token import Token

_INVISIBLE = dict.fromkeys(
    map(ord, "\u00ad\ufeff\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e")
) | dict.fromkeys(range(0x2060, 0x206A))
_BLOCK_TAGS = frozenset({"br", "p", "div"})
_INLINE_TAGS = _BLOCK_TAGS | frozenset("b i u s em strong del ins sub sup span a kbd code mark small".split())
_PARSER = MarkdownIt("commonmark", {"html": True}).enable("strikethrough")
_BAR = re.compile(r"(?<!\\)\|")
_MIN_BARS = 2


class MarkdownView:
    """Markdown as written, without escapes (`normal`) and without inline marks (`plain`)."""

    def __init__(self, markdown: str) -> None:
        """Show a Markdown text."""
        self.raw = _unify_line_ends(markdown)

    @cached_property
    def normal(self) -> str:
        """Text with single spaces, without escapes and character references."""
        return normalize(self.raw)

    @cached_property
    def plain(self) -> str:
        """Text without inline marks; line ends are kept."""
        return strip_marks(self.raw)

    @cached_property
    def flat(self) -> tuple[str, str]:
        """Both forms with each paragraph in one line, for readers that wrap lines."""
        return _join_lines(self.normal), _join_lines(self.plain)

    @cached_property
    def lines(self) -> tuple[list[str], list[str]]:
        """Lines of both forms that are not empty."""
        return [line for line in self.normal.split("\n") if line], [line for line in self.plain.split("\n") if line]

    @cached_property
    def rows(self) -> list[list[str]]:
        """Cells of each table row."""
        lines = _write_html_tables(self.raw).split("\n")
        return [_split_row(line) for line in lines if line.count("|") >= _MIN_BARS]

    @cached_property
    def code(self) -> list[tuple[str, str]]:
        """Language and text of each block of code."""
        blocks = (token for token in self._tokens if token.type in ("fence", "code_block"))
        return [((token.info.split() or [""])[0], tidy_code(token.content)) for token in blocks]

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """Level and plain text of each heading."""
        pairs = zip(self._tokens, self._tokens[1:], strict=False)
        return [
            (int(token.tag[1]), strip_marks(inline.content)) for token, inline in pairs if token.type == "heading_open"
        ]

    @cached_property
    def _tokens(self) -> list[Token]:
        return _PARSER.parse(self.raw)


def normalize(text: str) -> str:
    """Return a text with single spaces, without escapes and character references; line ends are kept."""
    return _collapse(unescapeAll(_unify_line_ends(text)))


def strip_marks(markdown: str) -> str:
    """Return Markdown without emphasis, marks of code, addresses of links and inline tags; line ends are kept."""
    # A bar of a table is escaped even in code, where other backslashes are letters.
    paragraphs = _write_html_tables(_unify_line_ends(markdown)).replace("\\|", "|").split("\n\n")
    return _collapse("\n\n".join("".join(_plain_parts(_PARSER.parseInline(one))) for one in paragraphs))


def tidy_code(text: str) -> str:
    """Return code without spaces at the ends of lines and without empty lines at its ends."""
    visible = text.translate(_INVISIBLE).replace("\u00a0", " ")
    return "\n".join(line.rstrip() for line in visible.split("\n")).strip("\n")


def _unify_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _collapse(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.translate(_INVISIBLE).split("\n"))


def _join_lines(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _plain_parts(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.children:
            yield from _plain_parts(token.children)
        elif token.type == "html_inline":
            name = token.content.strip("</>").split(" ")[0].rstrip("/").lower()
            yield " " if name in _BLOCK_TAGS else "" if name in _INLINE_TAGS else token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield "\n"
        else:
            yield token.content


def _write_html_tables(markdown: str) -> str:
    """Return Markdown in which each row of an HTML table is one line with bars between the cells."""
    parts, rest = [], markdown
    while "<table" in rest:
        before, mark, rest = rest.partition("<table")
        table, end, rest = rest.partition("</table>")
        parts += [before, "\n".join(["", *_html_rows(mark + table + end), ""])]
    return "".join([*parts, rest])


def _html_rows(table: str) -> Iterable[str]:
    for row in html.fragment_fromstring(table, create_parent="div").iter("tr"):
        yield f"| {' | '.join(' '.join(cell.text_content().split()) for cell in row.iterchildren('td', 'th'))} |"


def _split_row(line: str) -> list[str]:
    return [strip_marks(cell) for cell in _BAR.split(line.strip().strip("|"))]
