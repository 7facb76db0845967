"""Score the Markdown of a page by the elements that its annotation names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from benchmarks.faithful.gold import Gold, Post
from benchmarks.faithful.words import find_words, has_date, squash, words
from benchmarks.markdown.structure import language_name, normalize_code, parse_structure

FIGURES = (
    "headings",
    "headings.precision",
    "posts.author",
    "posts.date",
    "posts.text",
    "code",
    "tables",
    "lists",
    "facts.price",
    "facts.date",
    "facts.author",
)

_HEAD = 100
"""Words before a post's text in which its author and date count, if the end of the post before is unknown."""

_SPARE = 10
"""Letters that may follow a heading, such as "edit", "top" or "section 3"."""

_LONG = 6
"""Words that identify a post wherever they stand."""

_WHOLE = 0.8
"""Share of a post's words that must lie between its first and its last word."""

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\s]\d+)*")
_ITEM_NUMBER = re.compile(r"^\d+[.)]\s+")
_CURRENCY = re.compile(r"\b(?:[A-Z]{3}|kr|z\u0142|K\u010d|Ft|lei|Rs|R)\b")
_NEAR = 12
"""Characters between an amount and its currency."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader returned for a page."""

    markdown: str
    title: str = ""
    author: str = ""
    date: str = ""
    discussion: Sequence[Mapping[str, Any]] = ()
    """Posts as objects with `author`, `date` and `text`, if the reader returns them."""
    price: str = ""
    """Amount and currency, if the reader returns them as a fact."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a post's text lies among the words of the Markdown."""

    start: int
    end: int
    whole: bool


def score(gold: Gold, answer: Answer) -> dict[str, float]:
    """Return the share that was found of each element that the annotation has."""
    found = parse_structure(answer.markdown)
    text = words(found.text)
    figures: dict[str, float] = {}
    if gold.headings is not None:
        figures |= _headings(gold, [text for _, text in found.headings], answer.title)
    if gold.posts:
        figures |= _posts(gold.posts, text, answer.discussion)
    if gold.code:
        fences = [(language, _lines(code)) for language, code in found.code]
        figures["code"] = _share([_has_code(language_name(name), _lines(code), fences) for name, code in gold.code])
    if gold.tables:
        tables = [[_cells(row) for row in table] for table in found.tables]
        figures["tables"] = sum(_table_share(table, tables) for table in gold.tables) / len(gold.tables)
    if gold.lists:
        blocks = [squash(line) for line in found.text.split("\n")]
        blocks += [squash(" ".join(row)) for table in found.tables for row in table]
        figures["lists"] = _share([_has_list(items, blocks) for items in gold.lists])
    if gold.price is not None:
        figures["facts.price"] = float(_has_price(gold.price, f"{answer.price}\n{answer.markdown}"))
    if gold.date is not None:
        figures["facts.date"] = float(has_date([gold.date], words(answer.date)) or has_date([gold.date], text))
    if gold.author is not None:
        name = words(gold.author)
        figures["facts.author"] = float(find_words(name, words(answer.author)) >= 0 or find_words(name, text) >= 0)
    return figures


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)


def _headings(gold: Gold, found: Sequence[str], title: str) -> dict[str, float]:
    """Return recall, and precision if there are headings. The title of the page counts as a heading."""
    assert gold.headings is not None
    stated, whole_title = [squash(heading) for heading in found], squash(title)
    figures = {}
    if gold.headings:
        # A title often ends with the name of the site.
        required = [squash(heading) for heading in gold.headings]
        figures["headings"] = _share(
            [whole_title.startswith(each) or any(_is_heading(each, other) for other in stated) for each in required]
        )
    accepted = {squash(heading) for heading in (*gold.headings, *gold.optional_headings)}
    names = (*(post.author for post in gold.posts), *gold.other_authors)
    authors = [words(name) for name in names if name]
    right = [
        any(_is_heading(other, each) for other in accepted)
        or any(find_words(author, words(heading)) >= 0 for author in authors)
        for each, heading in zip(stated, found, strict=True)
        if each
    ]
    if right:
        figures["headings.precision"] = _share(right)
    return figures


def _is_heading(gold: str, found: str) -> bool:
    """Return True if these are the same heading; the text of a link behind it may follow."""
    return found.startswith(gold) and len(found) - len(gold) <= _SPARE


def _posts(posts: Sequence[Post], text: Sequence[str], discussion: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    places = _places(posts, text)
    authors, dates, texts = [], [], []
    previous: _Place | None = None
    for post, place in zip(posts, places, strict=True):
        entry = _entry(post, discussion)
        head = _head(place, previous, text) if place is not None else ()
        previous = place
        if post.author:
            name = words(post.author)
            authors.append(find_words(name, head) >= 0 or find_words(name, words(str(entry.get("author", "")))) >= 0)
        if post.dates:
            dates.append(has_date(post.dates, head) or has_date(post.dates, words(str(entry.get("date", "")))))
        texts.append((place is not None and place.whole) or _is_whole(post, words(str(entry.get("text", "")))))
    figures = {"posts.author": authors, "posts.date": dates, "posts.text": texts}
    return {key: _share(found) for key, found in figures.items() if found}


def _head(place: _Place, previous: _Place | None, text: Sequence[str]) -> Sequence[str]:
    """Return the words that belong to a post and stand before its text: behind the end of the post before."""
    if previous is not None and previous.whole and previous.end <= place.start:
        return text[previous.end : place.start]
    return text[max(place.start - _HEAD, 0) : place.start]


def _places(posts: Sequence[Post], text: Sequence[str]) -> list[_Place | None]:
    """Locate the posts in order: the start of each, then its end before the start of the next."""
    starts: list[int] = []
    cursor = behind = 0
    for post in posts:
        first = post.first.split()
        start = find_words(first, text, behind)
        if start < 0 and len(first) >= _LONG:
            start = find_words(first, text, cursor)
            start = find_words(first, text) if start < 0 else start
        starts.append(start)
        if start >= 0:
            cursor = start + len(first)
            behind = max(cursor, start + int(_WHOLE * post.words))
    places: list[_Place | None] = []
    for post, start in zip(posts, starts, strict=True):
        if start < 0:
            places.append(None)
            continue
        limit = min((other for other in starts if other > start), default=len(text))
        end = _end(post, text, start, limit)
        places.append(_Place(start, max(end, start + len(post.first.split())), end >= 0))
    return places


def _end(post: Post, text: Sequence[str], start: int, limit: int) -> int:
    """Return the position behind a post's last words, or -1 if they are missing or too near to the first."""
    last = post.last.split()
    at = find_words(last, text, start + max(0, int(_WHOLE * post.words) - len(last)), limit)
    return at + len(last) if at >= 0 else -1


def _entry(post: Post, discussion: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the object of a discussion that begins as the post does."""
    first = post.first.split()
    for entry in discussion:
        if find_words(first, words(str(entry.get("text", ""))), 0, _HEAD + len(first)) >= 0:
            return entry
    return {}


def _is_whole(post: Post, text: Sequence[str]) -> bool:
    start = find_words(post.first.split(), text)
    return start >= 0 and _end(post, text, start, len(text)) >= 0


def _lines(code: str) -> list[str]:
    return [line for line in normalize_code(code).split("\n") if line.strip()]


def _has_code(language: str, lines: Sequence[str], fences: Sequence[tuple[str, Sequence[str]]]) -> bool:
    """Return True if one block holds every line in order and states the language, if the page does."""
    return any((not language or language == name) and _is_subsequence(lines, fence) for name, fence in fences if fence)


def _is_subsequence(required: Sequence[str], found: Sequence[str]) -> bool:
    remaining = iter(found)
    return all(line in remaining for line in required)


def _cells(row: Sequence[str]) -> list[str]:
    """Return the cells that are not empty; a cell that spans several columns counts once."""
    cells: list[str] = []
    for cell in map(squash, row):
        if cell and (not cells or cells[-1] != cell):
            cells.append(cell)
    return cells


def _table_share(table: Sequence[Sequence[str]], found: Sequence[Sequence[Sequence[str]]]) -> float:
    """Return the share of the rows that stand in one table with all their cells."""
    rows = [cells for cells in map(_cells, table) if cells]
    return max((sum(row in other for row in rows) / len(rows) for other in found), default=0.0)


def _has_list(items: Sequence[str], blocks: Sequence[str]) -> bool:
    """Return True if every item stands in a block of its own, in order, wherever the list begins."""
    required = [squash(_ITEM_NUMBER.sub("", item)) for item in items]
    remaining = iter(blocks)
    return all(any(item in block for block in remaining) for item in required)


def _has_price(price: str, markdown: str) -> bool:
    """Return True if the amount stands in the text beside a currency."""
    expected = _amount(_NUMBER.search(price))
    for found in _NUMBER.finditer(markdown):
        if _amount(found) == expected:
            around = markdown[max(0, found.start() - _NEAR) : found.end() + _NEAR]
            if _CURRENCY.search(around) or any(unicodedata.category(sign) == "Sc" for sign in around):
                return True
    return False


def _amount(found: re.Match[str] | None) -> Decimal | None:
    """Return the number; the last separator with one or two digits behind it is the decimal point."""
    if found is None:
        return None
    digits = re.sub(r"[\s'\u2019]", "", found[0])
    whole, mark, cents = digits.rpartition(max(".,", key=digits.rfind))
    if not mark or len(cents) > 2:
        whole, cents = digits, "0"
    try:
        return Decimal(re.sub(r"[.,]", "", whole) + "." + cents).normalize()
    except InvalidOperation:
        return None
