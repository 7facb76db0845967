"""Annotations of the benchmark: elements that the Markdown of a page must contain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.faithful.words import words

FOLDER = Path(__file__).resolve().parent / "gold"
"""Annotations of real pages: `CORPUS/PAGE.json`."""

KINDS = (
    "phpbb",
    "vbulletin",
    "xenforo",
    "discourse",
    "questions",
    "aggregator",
    "mailing-list",
    "issues",
    "comments",
    "reviews",
    "listed-products",
    "projects",
    "category",
    "product",
    "recipe",
    "docs",
    "manual",
    "api",
    "news",
    "faq",
    "schedule",
    "encyclopedia",
    "tables",
    "other-language",
)
"""Kinds of pages. README.md describes each."""

ENDS = 8
"""Words of a post that an annotation holds from its beginning and from its end."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post of a discussion. None: the page does not state it."""

    author: str | None
    dates: tuple[str, ...]
    """Accepted spellings: as displayed, and in ISO form if the page has it."""
    first: str
    last: str
    words: int
    position: int
    score: int | None = None
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class Gold:
    """Elements of one page. None or an empty tuple: the element is not scored on this page."""

    id: str
    kind: str
    url: str
    headings: tuple[str, ...] | None = None
    optional_headings: tuple[str, ...] = ()
    """Headings that are neither required nor counted as wrong."""
    posts: tuple[Post, ...] = ()
    other_authors: tuple[str, ...] = ()
    """Authors of posts that are not annotated."""
    code: tuple[tuple[str, str], ...] = ()
    """Language and text. An empty language: the page does not state it."""
    tables: tuple[tuple[tuple[str, ...], ...], ...] = ()
    lists: tuple[tuple[str, ...], ...] = ()
    price: str | None = None
    date: str | None = None
    author: str | None = None
    made: bool = False


def read_gold(path: Path) -> Gold:
    """Read the annotation of one real page."""
    return gold_from(f"{path.parent.name}/{path.stem}", json.loads(path.read_text(encoding="utf-8")))


def gold_from(page: str, facts: Mapping[str, Any], *, made: bool = False) -> Gold:
    """Return the annotation in a JSON object.

    Raises:
        KeyError: `kind` or `url` is missing.
    """
    headings = facts.get("headings")
    return Gold(
        id=page,
        kind=facts["kind"],
        url=facts["url"],
        headings=None if headings is None else tuple(headings),
        optional_headings=tuple(facts.get("optional_headings", ())),
        posts=tuple(_post(post, at) for at, post in enumerate(facts.get("posts", ()), start=1)),
        other_authors=tuple(facts.get("other_authors", ())),
        code=tuple((language, text) for language, text in facts.get("code", ())),
        tables=tuple(tuple(tuple(row) for row in table) for table in facts.get("tables", ())),
        lists=tuple(tuple(items) for items in facts.get("lists", ())),
        price=facts.get("price"),
        date=facts.get("date"),
        author=facts.get("author"),
        made=made,
    )


def ends_of(text: str) -> dict[str, str | int]:
    """Return the first and last words of a post, and their number."""
    found = words(text)
    return {"first": " ".join(found[:ENDS]), "last": " ".join(found[-ENDS:]), "words": len(found)}


def _post(facts: Mapping[str, Any], position: int) -> Post:
    return Post(
        author=facts.get("author"),
        dates=tuple(facts.get("dates", ())),
        first=facts["first"],
        last=facts["last"],
        words=facts["words"],
        position=position,
        score=facts.get("score"),
        accepted=facts.get("accepted", False),
    )
