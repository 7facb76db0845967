"""Convert the plain text of a mail into paragraphs, quotations and code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from textwrap import dedent

from lxml import etree

from scraper.html.dom.xpath import Element

MAIL_SIGNATURE = re.compile(r"\n-- ?\n(?s:.*)\Z")
_QUOTE_MARK = re.compile(r">\s?")
_PATCH = re.compile(r"(?:^---\n(?=(?:.*\n){1,200}?(?:diff --git |--- a/))|^diff --git |^Index: \S)", re.MULTILINE)
_ITEM = re.compile(r"\s{0,3}(?:[-*+•]|\(?\d{1,2}[.)]|\[\d{1,3}\])\s")
_BULLET = re.compile(r"[-*+•]\s+")
_LAID_OUT = re.compile(r"\S {3,}\S|^(?: {4}|\t)", re.MULTILINE)
_MAX_DEPTH = 20
_MIN_WIDTH, _MAX_WIDTH, _SLACK = 60, 80, 8
"""Characters of the longest line that is wrapped, and by which wrapped lines are shorter. Longer lines are URLs."""


def build_mail_text(element: Element, text: str) -> None:
    """Append the paragraphs, quotations and code of a mail to an element.

    Lines that begin with `>` are quotations. Indented or aligned lines and patches are code. A line to which the next
    word could be added ends with a line break.
    """
    patch = _PATCH.search(text)
    lines = (text[: patch.start()] if patch else text).expandtabs(8).split("\n")
    _append_lines(element, lines, 0)
    if patch:
        etree.SubElement(element, "pre", {"class": "language-diff"}).text = text[patch.start() :].strip("\n")


def _append_lines(element: Element, lines: Sequence[str], depth: int) -> None:
    width = max([_MIN_WIDTH, *(length for length in map(len, lines) if length <= _MAX_WIDTH)]) - _SLACK
    for is_quoted, group in groupby(lines, key=lambda line: line.startswith(">") and depth < _MAX_DEPTH):
        if is_quoted:
            quote = etree.SubElement(element, "blockquote")
            _append_lines(quote, [_QUOTE_MARK.sub("", line, count=1) for line in group], depth + 1)
        else:
            for chunk in _split_paragraphs(group):
                _append_paragraph(element, chunk, width)


def _split_paragraphs(lines: Iterator[str]) -> Iterator[list[str]]:
    """Yield the runs of lines between empty ones."""
    for is_empty, group in groupby(lines, key=lambda line: not line.strip()):
        if not is_empty:
            yield list(group)


def _append_paragraph(element: Element, lines: list[str], width: int) -> None:
    if _is_laid_out(lines):
        etree.SubElement(element, "pre").text = dedent("\n".join(lines)).rstrip()
        return
    joined = [lines[0].strip()]
    for before, after in pairwise(lines):
        words = after.strip()
        is_hanging = after[0].isspace() and _ITEM.match(joined[-1])
        is_short = len(before.rstrip()) + len(words.split()[0]) < width
        if _ITEM.match(after) or (is_short and not is_hanging):
            joined.append(words)
        else:
            joined[-1] += " " + words
    for is_item, group in groupby(joined, key=lambda line: _BULLET.match(line) is not None):
        if is_item:
            items = etree.SubElement(element, "ul")
            for line in group:
                etree.SubElement(items, "li").text = _BULLET.sub("", line)
        else:
            first, *others = group
            paragraph = etree.SubElement(element, "p")
            paragraph.text = first
            for line in others:
                etree.SubElement(paragraph, "br").tail = line


def _is_laid_out(lines: Sequence[str]) -> bool:
    """Return True if most lines are indented or have columns."""
    laid_out = sum(_LAID_OUT.search(line) is not None for line in lines)
    return 2 * laid_out > len(lines)
