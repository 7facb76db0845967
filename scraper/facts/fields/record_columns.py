"""Extract the usual columns of list records: title, URL, price, date, image and text."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from scraper.facts import money, product_visible
from scraper.facts.data_tables import DataTable, text_or_picture
from scraper.facts.fields.field_names import find_day
from scraper.facts.fields.record_lists import RecordElements, RecordList, stable_classes
from scraper.facts.fields.text_leaves import MAX_VALUE, ElementTexts
from scraper.html.dom.parsing import HEADINGS, Element
from scraper.text.sanitize import name_key
from scraper.text.terms import CAMEL_CASE
from scraper.urls import join_url
from scraper.words.matcher import WordPattern

COLUMNS = ("title", "url", "price", "date", "image", "text")
"""Names of the columns that a row may have."""

_USUAL_TITLE = 45
_MAX_TITLE = 300
_MIN_TEXT = 40
_MIN_FIRST = 3
_MAX_PRICE_TEXT = 60
_CALL = WordPattern(r"(?:{links.call}|\d[\d.,]*k?)(?![^\W_]).{0,12}")
_RATING = re.compile(r"\d(?:[.,]\d+)?(?: out of |\s*/\s*)\d|\b(?:ratings?|reviews?|stars?)\b", re.IGNORECASE)
_TITLE_NAME = re.compile(r"\b(?:title|name|headline|heading|subject)\b")


@dataclass(slots=True)
class _Title:
    element: Element
    text: str
    place: tuple[str, ...]
    score: float


def read_rows(page: ElementTexts, found: RecordList) -> list[dict[str, str]]:
    """Return one row per record with the `COLUMNS` that were found. URLs are absolute."""
    titles = _choose_titles(page, found)
    return [_read_row(page, record, title) for record, title in zip(found.records, titles, strict=True)]


def read_table_columns(page: ElementTexts, table: DataTable, rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the rows of a table with its columns by their headers, except columns that the rows have already."""
    known = [[row.get(name, "") for row in rows] for name in COLUMNS]
    columns: dict[str, list[str]] = {}
    for header, cells in zip(table.headers, zip(*(cells for _, cells in table.rows), strict=False), strict=False):
        texts = [text_or_picture(cell, page.text)[:MAX_VALUE] for cell in cells]
        if header and texts not in known:
            columns.setdefault(header, texts)
    return [row | {name: texts[at] for name, texts in columns.items()} for at, row in enumerate(rows)]


def _choose_titles(page: ElementTexts, found: RecordList) -> list[_Title | None]:
    options: list[list[_Title]] = []
    for record in found.records:
        parts = [part for element in record for part in page.descendants(element)]
        # The picture of a record has the link of its title.
        targets = Counter(part.get("href") or "" for part in parts if part.tag == "a")
        options.append([one for part in parts if (one := _read_title(page, record, part, targets))])
    votes: defaultdict[tuple[str, ...], float] = defaultdict(float)
    texts: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    counts: Counter[tuple[str, ...]] = Counter()
    for titles in options:
        best_by_place: dict[tuple[str, ...], _Title] = {}
        for title in titles:
            if title.place not in best_by_place or title.score > best_by_place[title.place].score:
                best_by_place[title.place] = title
        for place, best in best_by_place.items():
            votes[place] += best.score
            counts[place] += 1
            texts[place].add(best.text)
    for place in votes:
        votes[place] = votes[place] / len(found.records) - 2.0 * (1 - len(texts[place]) / counts[place])
    firsts = _first_cells(page, found.table) if found.table else [_first_text(page, one) for one in found.records]
    return [
        max(titles, key=lambda one: one.score + votes[one.place], default=first)
        for titles, first in zip(options, firsts, strict=True)
    ]


def _first_cells(page: ElementTexts, table: DataTable) -> list[_Title | None]:
    """Return the texts of the first column with a word in each row, so that no row has its title from another one."""
    for cells in zip(*(cells for _, cells in table.rows), strict=False):
        texts = list(map(page.text, cells))
        if all(any(map(str.isalpha, text)) and len(text) <= _MAX_TITLE for text in texts):
            return [_Title(cell, text, (), 0.0) for cell, text in zip(cells, texts, strict=True)]
    return [None] * len(table.rows)


def _first_text(page: ElementTexts, record: RecordElements) -> _Title | None:
    """Return the first text of a record without heading, link and name, if it is short and no amount."""
    parts = (part for element in record for part in page.descendants(element))
    for part in parts:
        is_whole = len(part) < 2 or (part.text or "").strip()
        if is_whole and page.has_text(part) and not page.has_blocks(part):
            text = page.text(part)
            if _MIN_FIRST <= len(text) <= _MAX_TITLE and not money.MONEY.search(text):
                return _Title(part, text, _place(part, record), 0.0)
    return None


def _read_title(page: ElementTexts, record: RecordElements, part: Element, targets: Mapping[str, int]) -> _Title | None:
    """Return the text of a heading, a link or an element named as a title, with a score; None for other elements."""
    is_heading = part.tag in HEADINGS
    names = _names(part)
    parent = part.getparent()
    own = f"{names} {_names(parent)}" if parent is not None and len(parent) == 1 else names
    is_named = _TITLE_NAME.search(own) is not None
    target = part.get("href") if part.tag == "a" else None
    is_link = bool(target)
    if not (is_heading or is_named or is_link) or not page.has_text(part):
        return None
    text = page.text(part)
    if len(text) > _MAX_TITLE:
        return None
    has_link = any(one.tag == "a" and one.get("href") for one in page.descendants(part)[1:])
    if has_link and not is_link and not is_heading:
        return None  # the link in it is the title
    link = is_link or has_link or any(one.tag == "a" for one in part.iterancestors())
    score = 3.0 * is_heading + 1.5 * is_named + 1.0 * link - abs(min(len(text), 150) - _USUAL_TITLE) / 60
    score -= 2.0 * bool(_CALL.fullmatch(text)) + 1.0 * bool(money.MONEY.search(text))
    score -= 1.5 * bool(is_link and _RATING.search(text))
    score += 0.7 * (is_link and targets[target or ""] > 1)
    return _Title(part, text, _place(part, record), score)


def _read_row(page: ElementTexts, record: RecordElements, title: _Title | None) -> dict[str, str]:
    parts = [part for element in record for part in page.descendants(element)]
    row: dict[str, str] = {}
    if title is not None:
        row["title"] = title.text
    if target := _target(page, parts, title):
        row["url"] = join_url(page.page.base, target)
    row |= {name: text for name, text in (("price", _price(page, parts)), ("date", _day(page, parts))) if text}
    source = next((part.get("src") or "" for part in parts if part.tag == "img"), "")
    if source and not source.startswith("data:"):
        row["image"] = join_url(page.page.base, source)
    if text := _longest_text(page, parts, title):
        row["text"] = text[:MAX_VALUE]
    return row


def _target(page: ElementTexts, parts: Sequence[Element], title: _Title | None) -> str:
    if title is not None:
        inner = [one.get("href") or "" for one in page.descendants(title.element) if one.tag == "a"]
        around = (one.get("href") or "" for one in title.element.iterancestors("a"))
        if first := next(filter(None, (*inner, *around)), ""):
            # Of links to a person and to a thing of this person, the second one is that of the record.
            return next((link for link in inner if link.startswith(f"{first}/")), first)
    links = [part.get("href") or "" for part in parts if part.tag == "a" and part.get("href")]
    return next((link for link in links if not link.startswith(("#", "javascript:"))), "")


def _price(page: ElementTexts, parts: Sequence[Element]) -> str:
    """Return the amount of the best role in the smallest elements with one, those named price first."""
    best, best_rank = "", (money.Role.OLD + 1, True)
    for part in parts:
        if page.length(part) >= _MAX_PRICE_TEXT or not any(map(str.isdigit, page.text(part))):
            continue
        above = list(islice(part.iterancestors(), 2))
        is_other = not any(map(product_visible.is_named_price, (part, *above)))
        is_price = not is_other or money.ROUND_PRICE.fullmatch(page.text(part)) is not None
        amounts = product_visible.read_element(part, is_price=is_price)
        for one in amounts if any(one.sign for one in amounts) else ():
            role = max(one.role, *map(product_visible.role_of, above))
            if (role, is_other) < best_rank:
                best, best_rank = one.text, (role, is_other)
    return best


def _day(page: ElementTexts, parts: Sequence[Element]) -> str:
    times = (page.text(part)[:60] for part in parts if part.tag == "time" and page.has_text(part))
    short = (page.text(part) for part in parts if 3 < page.length(part) < _MAX_PRICE_TEXT)
    return next(times, "") or next(filter(None, map(find_day, short)), "")


def _longest_text(page: ElementTexts, parts: Sequence[Element], title: _Title | None) -> str:
    best = ""
    own = name_key(title.text) if title is not None else ""
    for part in parts:
        if part.tag == "a" or part.tag in HEADINGS or page.has_blocks(part):
            continue
        text = page.text(part) if page.length(part) > max(_MIN_TEXT, len(best)) else ""
        if text and (not own or own not in name_key(text) or len(text) > 2 * len(own)):
            best = text
    return best


def _place(part: Element, record: RecordElements) -> tuple[str, ...]:
    steps: list[str] = []
    node: Element | None = part
    while node is not None:
        steps.append(f"{node.tag}.{'.'.join(stable_classes(node.get('class') or '')[:2])}")
        if node in record:
            break
        node = node.getparent()
    return tuple(steps)


def _names(element: Element) -> str:
    return _split_names(" ".join([element.get(name) or "" for name in ("class", "id", "itemprop")]))


@lru_cache(maxsize=20_000)
def _split_names(names: str) -> str:
    return CAMEL_CASE.sub(" ", names[:300]).replace("-", " ").replace("_", " ").lower()
