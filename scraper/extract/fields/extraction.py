"""Read the requested values of a page."""

from __future__ import annotations

import re

from browsers.model import Snapshot
from scraper.extract.dom.urls import join_url
from scraper.extract.dom.xpath import element_selector, text_of
from scraper.extract.fields.model import FieldRequest, PageFields
from scraper.extract.fields.record_columns import read_rows
from scraper.extract.fields.record_lists import MAX_RECORDS, find_largest_group, find_lists
from scraper.extract.fields.text_leaves import MAX_ELEMENTS, PageText
from scraper.extract.page import page_tree
from scraper.extract.page.page_tree import PageTree
from scraper.extract.text import sanitize

_LINKS = element_selector(".//a[@href]")
_NEXT_WORDS = re.compile(
    r"(?:next(?: page)?|weiter|nächste(?: seite)?|suivante?|siguiente|próxima|avanti|volgende)\W*|[›»→>]", re.I
)
_PAGE_NUMBER = re.compile(r"\d{1,5}")


def extract(snapshot: Snapshot, request: FieldRequest) -> PageFields:
    """Return the values of a snapshot of HTML that were asked for."""
    tree = page_tree.build_page_tree(snapshot)
    page = PageText(tree)
    warnings: list[str] = []
    if len(page.elements) >= MAX_ELEMENTS:
        warnings.append(f"Only the first {MAX_ELEMENTS:,} elements of the page were read.")
    lists = find_lists(page, 1)
    if not lists:
        return PageFields(snapshot.url, largest=find_largest_group(page), warnings=tuple(warnings))
    rows = tuple({name: sanitize.clean(value)[0] for name, value in row.items()} for row in read_rows(page, lists[0]))
    if len(rows) == MAX_RECORDS:
        warnings.append(f"The list may be longer: {MAX_RECORDS:,} records were read.")
    return PageFields(snapshot.url, rows, find_next_page(tree), warnings=tuple(warnings))


def find_next_page(tree: PageTree) -> str:
    """Return the URL of the next part of a list: a link that says so, or the number after the current page."""
    declared = [url for relation, url in tree.head.links if "next" in relation.split()]
    links = _LINKS(tree.body)
    declared += [link.get("href") or "" for link in links if "next" in (link.get("rel") or "").lower().split()]
    named = [link for link in links if _NEXT_WORDS.fullmatch(" ".join(text_of(link).split()))]
    declared += [link.get("href") or "" for link in named]
    for target in (*declared, _number_after_current(tree)):
        url = join_url(tree.base, target) if target else ""
        if url.startswith(("http://", "https://")) and url.partition("#")[0] != tree.url.partition("#")[0]:
            return url
    return ""


def _number_after_current(tree: PageTree) -> str:
    """Return the target of the only link `n + 1` beside a number `n` that is not linked, or an empty string."""
    numbered: dict[int, list[str]] = {}
    for link in _LINKS(tree.body):
        text = text_of(link).strip()
        if _PAGE_NUMBER.fullmatch(text):
            numbered.setdefault(int(text), []).append(link.get("href") or "")
    current = [
        number for number in range(1, max(numbered, default=0)) if number not in numbered and number + 1 in numbered
    ]
    targets = numbered[current[0] + 1] if len(current) == 1 and len(numbered) >= 2 else []
    return targets[0] if len(set(targets)) == 1 else ""
