"""Read the posts of a discussion that a page states only in its JSON-LD, because scripts load the visible ones."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lxml import etree

from scraper.facts.syntaxes import jsonld
from scraper.facts.syntaxes.jsonld import JsonLdItem, read_names, type_names
from scraper.html.dom import parsing
from scraper.html.dom.xpath import Element, text_of
from scraper.html.page.page_tree import PageTree
from scraper.html.page.segmentation import segment_body

_TYPE = re.compile(r"[\"'](?:https?://schema\.org/)?(?:QAPage|DiscussionForumPosting)[\"']")
_ANSWERS = ("acceptedAnswer", "suggestedAnswer", "comment")
_SCORES = ("upvoteCount", "answerUpvoteCount")
_LIKES = re.compile(r"\bLikeAction\b")
_TEXTS = ("text", "articleBody")
_TAG = re.compile(r"<[a-zA-Z/!]")
_LINES = re.compile(r"\s*\n\s*")
_NOT_LETTERS = re.compile(r"[\W_]+")
_MAX_POSTS, _MAX_DEPTH, _MAX_TEXT = 2_000, 30, 50_000
_COMPARED = 60
"""Letters at the beginning of a post that are searched in the page."""


class JsonLdPost(NamedTuple):
    """A post as the JSON-LD of a page states it."""

    author: str
    date: str
    paragraphs: tuple[str, ...]
    score: int | None
    accepted: bool
    parent: int | None
    """Index of the post that it answers; None for a post that answers the first one."""
    is_visible: bool
    """True if the text of the page contains the post."""


def read_posts(page: PageTree) -> list[JsonLdPost]:
    """Return the posts of the only question or thread of a page, or nothing if it has several."""
    scripts = page.head.jsonld_scripts
    if not any(map(_TYPE.search, scripts)):
        return []
    letters = _letters(text_of(page.body))
    threads: list[list[JsonLdPost]] = []
    for item in _threads(jsonld.read(scripts).values):
        posts: list[JsonLdPost] = []
        _add(posts, item, letters, parent=None, depth=0)
        if len(posts) > 1:
            threads.append(posts)
    # Several threads are those of a list.
    return threads[0] if len(threads) == 1 else []


def _threads(values: Sequence[Any]) -> Iterator[JsonLdItem]:
    """Yield the questions of question pages, and the postings of forums, that are not part of another item."""
    for item in jsonld.flatten(values):
        kinds = type_names(item)
        if "QAPage" in kinds:
            yield from _objects(item.get("mainEntity"))
        elif "DiscussionForumPosting" in kinds:
            yield item


def _objects(value: Any) -> list[JsonLdItem]:
    return [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]


def _add(
    found: list[JsonLdPost],
    item: JsonLdItem,
    letters: str,
    *,
    parent: int | None,
    depth: int,
    is_accepted: bool = False,
) -> None:
    """Add a post and the answers and comments to it."""
    if depth > _MAX_DEPTH or len(found) >= _MAX_POSTS:
        return
    stated = next((item[name] for name in _TEXTS if isinstance(item.get(name), str)), "")
    paragraphs = _paragraphs(stated[:_MAX_TEXT])
    own = None
    if paragraphs:
        date = item.get("datePublished") or item.get("dateCreated")
        beginning = _letters("".join(paragraphs))[:_COMPARED]
        own = len(found)
        found.append(
            JsonLdPost(
                author=", ".join(read_names(item.get("author"))[:1]),
                date=date if isinstance(date, str) else "",
                paragraphs=paragraphs,
                score=_read_score(item),
                accepted=is_accepted,
                parent=parent,
                is_visible=beginning in letters,
            )
        )
    for name in _ANSWERS:
        for answer in _objects(item.get(name)):
            is_accepted = name == "acceptedAnswer"
            answered = own if depth else None
            _add(found, answer, letters, parent=answered, depth=depth + 1, is_accepted=is_accepted)


def _read_score(item: JsonLdItem) -> int | None:
    """Return the votes or the likes of a post."""
    likes = (
        counter.get("userInteractionCount")
        for counter in _objects(item.get("interactionStatistic"))
        if _LIKES.search(str(counter.get("interactionType")))
    )
    return next((score for score in map(_number, (*map(item.get, _SCORES), *likes)) if score is not None), None)


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | str) and re.fullmatch(r"-?[0-9]{1,9}", str(value)) else None


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).lower()


def _paragraphs(stated: str) -> tuple[str, ...]:
    """Return the lines of a text, which may be HTML."""
    text = html.unescape(stated)
    root = parsing.parse_html(f"<body>{text}</body>").root if _TAG.search(text) else None
    lines = segment_body(root).texts if root is not None else _LINES.split(text)
    return tuple(line.strip() for line in lines if line.strip())


def build_body(post: JsonLdPost) -> Element:
    """Return the text of a post, or an empty element if the page displays it."""
    body = etree.Element("div")
    for paragraph in () if post.is_visible else post.paragraphs:
        etree.SubElement(body, "p").text = paragraph
    return body
