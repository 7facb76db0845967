"""Read the discussion of a page: its posts with author, date, text, score, accepted mark and quotations."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice

from lxml import etree

from scraper.extract.discussion.post_bodies import copy_body, find_bodies, read_texts
from scraper.extract.discussion.post_containers import PostContainer, find_containers
from scraper.facts.metadata.author_date_labels import find_labels
from scraper.html.dom.parsing import Element, remove, text_of, text_selector
from scraper.html.page.page_tree import PageTree
from scraper.model import Post
from scraper.text import date_parsing
from scraper.text.sanitize import clean, clean_line
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

_MAX_TEXT = 50_000
_MAX_NAME, _MAX_DATE = 80, 60
_NAMES = read_table(__package__, "names.toml")
_SCORE_NAME = WordPattern(_NAMES["score_name"])
_REPUTATION_NAMES = ("reputation", "flair", "user", "badge", "profile", "dislikes")
_SCORE = re.compile(r"[+\-\u2212]?\d[\d,.]*(?:\s?k)?(?=\s*(?:points?|votes?|likes?|pts)?\W*\Z)", re.IGNORECASE)
_SCORE_LABEL = re.compile(r"[+\-\u2212]?\d[\d,.]*(?:\s?k)?\s+(?:points?|(?:up)?votes?)", re.IGNORECASE)
_ACCEPTED_NAME = WordPattern("|".join(_NAMES["accepted_name"]))
_HEADING_SEPARATORS = re.compile(r"\s*[·|•‧∙⋅・･᛫｜│┃¦]\s*")
"""Separator of headings, and characters that look like it."""
_BRACKETS = str.maketrans("[]<>", "()()")
_OWN_ELEMENTS = 400
_UNLINKED_TEXT = text_selector(".//text()[not(ancestor::*[@href])]")
_OPENING_SHAPES = frozenset({"@DiscussionForumPosting", "@SocialMediaPosting"})
"""Shapes of opening posts that are declared. The comments on them are the other posts of the thread."""
_MIN_LISTED, _MAX_LINK_TEXT = 3, 100


@dataclass(slots=True)
class Discussion:
    """Posts of a page, and the elements that contain them."""

    posts: tuple[Post, ...] = ()
    containers: list[PostContainer] = field(default_factory=list)
    bodies: list[Element] = field(default_factory=list)
    """Copies of the text of each post."""
    remarks: list[PostContainer] = field(default_factory=list)
    """Comments on posts of another kind, as question sites have them below answers."""


def find_discussion(page: PageTree) -> Discussion:
    """Return the posts of a page; the tree is not changed."""
    labels = find_labels(page.body, page.classes, page.attributes)
    containers = find_containers(labels, page.url)
    if not containers:
        return Discussion()
    elements = {one.element: number for number, one in enumerate(containers)}
    discussion = Discussion()
    posts: list[Post] = []
    positions: dict[Element, int] = {}
    for one, found in zip(containers, find_bodies(containers), strict=True):
        body = copy_body(found) if found else etree.Element("div")
        text, quoted = read_texts(body)
        if not text and not quoted and body.find(".//img") is None:
            continue
        parent = next((positions[around] for around in one.element.iterancestors() if around in positions), None)
        positions[one.element] = len(posts) + 1
        discussion.containers.append(one)
        discussion.bodies.append(body)
        posts.append(
            Post(
                position=len(posts) + 1,
                author=_plain(one.author.text, _MAX_NAME) if one.author else None,
                date=_plain(one.date.text, _MAX_DATE) if one.date else None,
                published=one.date.moment if one.date else None,
                text=clean(text[:_MAX_TEXT])[0],
                score=_find_score(one.element, elements),
                accepted=_is_accepted(one.element, elements),
                quoted=clean(quoted[:_MAX_TEXT])[0],
                reply_to=parent,
            )
        )
    if _are_only_links(discussion.bodies):
        return Discussion()
    discussion.posts = tuple(posts)
    discussion.remarks = _find_remarks(discussion)
    return discussion


def _are_only_links(bodies: Sequence[Element]) -> bool:
    """Return True if one post or most of several have only words of short links: the page lists threads or articles."""
    linked = 0
    for body in bodies:
        has_words = any(map(str.isalpha, "".join(_UNLINKED_TEXT(body))))
        linked += not has_words and len(text_of(body)) <= _MAX_LINK_TEXT
    return linked > len(bodies) // 2 and len(bodies) not in range(2, _MIN_LISTED)


def _find_remarks(discussion: Discussion) -> list[PostContainer]:
    """Return the comments on a page whose posts are mainly of another kind."""
    sizes: Counter[str] = Counter()
    for post, one in zip(discussion.posts, discussion.containers, strict=True):
        sizes[one.shape] += len(post.text)
    main = max(sizes, key=lambda shape: sizes[shape], default="")
    if "comment" in main.lower() or main in _OPENING_SHAPES:
        return []
    return [one for one in discussion.containers if one.shape != main and "comment" in one.shape.lower()]


def _plain(text: str, limit: int) -> str:
    """Return an author or date in one line, without the separators and brackets that headings use."""
    return _HEADING_SEPARATORS.sub(" ", clean_line(text, limit)).translate(_BRACKETS).strip()


def _find_score(container: Element, others: Collection[Element]) -> int | None:
    """Return the score in the first elements of a post, outside of the posts that it contains."""
    stack = [container]
    left = _OWN_ELEMENTS
    while stack and left:
        element = stack.pop()
        if element is not container and element in others:
            continue
        left -= 1
        stack.extend(reversed(element))
        stated = _find_stated_score(element)
        if len(stated) < 60 and (match := _SCORE.match(stated.strip())):
            digits = match[0].lower().replace("\u2212", "-").replace(",", "").strip()
            try:
                return round(float(digits.removesuffix("k")) * (1000 if digits.endswith("k") else 1))
            except (ValueError, OverflowError):
                return None
    return None


def _find_stated_score(element: Element) -> str:
    """Return the score in the attributes or the text of an element, or an empty text."""
    name = f"{element.get('class') or ''} {element.get('data-role') or ''}"[:100].strip()
    stated = element.get("data-score") or (element.get("score") if "-" in element.tag else None)
    if not stated and (label := _SCORE_LABEL.fullmatch((element.get("aria-label") or "").strip())):
        stated = label[0].rsplit(None, 1)[0]
    if not stated and (element.get("itemprop") == "upvoteCount" or (name and _is_score_name(name))):
        stated = element.get("data-value") or (text_of(element) if len(element) < 4 else "")
    return "" if not stated or any(word in name.lower() for word in _REPUTATION_NAMES) else stated


@lru_cache(maxsize=4_096)
def _is_score_name(name: str) -> bool:
    return _SCORE_NAME.search(name) is not None


def _is_accepted(container: Element, others: Collection[Element]) -> bool:
    marked = [container]
    for around in islice(container.iterancestors(), 2):
        if len(list(islice((inner for inner in around.iter() if inner in others), 2))) > 1:
            break
        marked.append(around)
    return any(
        element.get("itemprop") == "acceptedAnswer" or _ACCEPTED_NAME.search((element.get("class") or "")[:200])
        for element in marked
    )


def format_heading(post: Post) -> str:
    """Return the heading line of a post: position, author, date, answered post, score and accepted mark."""
    parts = [f"#{post.position}", post.author or "", _format_date(post.published, post.date)]
    if post.reply_to:
        parts.append(f"reply to #{post.reply_to}")
    if post.score is not None:
        parts.append(f"score {post.score}")
    if post.accepted:
        parts.append("accepted")
    return " · ".join(filter(None, parts))


def _format_date(moment: datetime | None, written: str | None) -> str:
    """Return a date as the page writes it, or like `2024-05-01 14:02 (yesterday)` if only the markup states its day."""
    if moment is None or (written and "T" not in written[10:11] and date_parsing.find_date(written)):
        return written or ""
    stated = moment.strftime("%Y-%m-%d" if (moment.hour, moment.minute) == (0, 0) else "%Y-%m-%d %H:%M")
    return stated if not written or written[:10] == stated[:10] else f"{stated} ({written})"


def build_thread(discussion: Discussion) -> Element:
    """Return an element with the posts, each with a heading. Remarks follow their post as a list without headings."""
    thread = etree.Element("div")
    listed = None
    remarks = {one.element for one in discussion.remarks}
    for post, one, body in zip(discussion.posts, discussion.containers, discussion.bodies, strict=True):
        if one.element not in remarks:
            etree.SubElement(thread, "h3").text = format_heading(post)
            thread.append(body)
            listed = None
            continue
        # A remark on an answer, as question sites have them, is not an answer.
        listed = etree.SubElement(thread, "ul") if listed is None else listed
        item = etree.SubElement(listed, "li")
        label = etree.SubElement(item, "strong")
        label.text = post.author
        label.tail = f" ({_format_date(post.published, post.date)}): "
        if body.tag == "div" and len(body) == 1 and not (body.text or "").strip() and body[0].tag in ("p", "div"):
            body = body[0]
        body.tag = "span" if not len(body) or body.find(".//p") is None else "div"
        item.append(body)
    return thread


def place_thread(root: Element, discussion: Discussion) -> bool:
    """Replace the posts by the thread and return True, if the content contains at least half of them.

    The posts are removed from the content in any case.
    """
    attached = [one.element for one in discussion.containers if root in one.element.iterancestors()]
    is_content = 2 * len(attached) >= len(discussion.containers)
    if is_content and attached:
        thread = build_thread(discussion)
        place = attached[0]
        headline = attached[0].find(".//h1")
        if headline is not None and not any(text_of(headline) in text_of(body) for body in discussion.bodies):
            headline.tail = None
            place.addprevious(headline)
        place.addprevious(thread)
        for table in thread.iterancestors("table"):
            table.set("role", "presentation")  # a cell of a Markdown table cannot hold a thread
    for element in attached:
        remove(element)
    return is_content and bool(attached)
