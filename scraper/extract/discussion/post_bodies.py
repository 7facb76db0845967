"""Separate the text of posts from profiles, signatures, buttons and votes."""

import copy
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from lxml import etree

from scraper.extract.discussion.post_containers import PostContainer
from scraper.facts.metadata.author_date_labels import is_quote, strip_digits
from scraper.html.dom.parsing import HEADINGS, Element, classes_of, remove, text_of
from scraper.html.page.segmentation import segment_body
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

# With `IGNORECASE`, a search takes several times as long: these are for names in lower case.
_NAMES = read_table(__package__, "names.toml")
_BODY_NAME = WordPattern(_NAMES["body_name"], re.NOFLAG)
_NOISE_NAME = WordPattern("|".join(_NAMES["noise_name"]), re.NOFLAG)
_REMOVED_NAME = WordPattern("|".join(_NAMES["removed_name"]), re.NOFLAG)
_RULE = "_" * 8
"""Line that boards write above a signature, or its beginning."""
_CONTROL = WordPattern(_NAMES["control"])
_BUTTONS = frozenset({"button", "input", "select", "textarea", "nav", "style", "script"})
_FLOW = HEADINGS | frozenset("p ul ol pre blockquote table figure dl div img details span".split())
_CONTAINERS = frozenset("div section td tr table tbody article li main form dd dl header".split())
_MAX_NAME = 150
_HINT, _NOISE = 4.0, 0.05
_MAX_ELEMENTS = 4_000


def find_bodies(containers: Sequence[PostContainer]) -> list[list[Element]]:
    """Return the elements with the text of each post; posts of one shape use the same kind of element."""
    elements = {one.element for one in containers}
    by_shape: dict[str, list[int]] = {}
    for number, one in enumerate(containers):
        by_shape.setdefault(one.shape, []).append(number)
    bodies: list[list[Element]] = [[] for _ in containers]
    for numbers in by_shape.values():
        candidates = [_candidates(containers[number], elements) for number in numbers]
        totals: defaultdict[str, float] = defaultdict(float)
        for found in candidates:
            for element, key in found:
                totals[key] += min(_length(element), 2_000) * _weight(element)
        for number, found in zip(numbers, candidates, strict=True):
            bodies[number] = _choose(found, totals)
    return bodies


def _candidates(container: PostContainer, elements: Collection[Element]) -> list[tuple[Element, str]]:
    """Return the largest elements of a post that contain none of its labels and no other post, each with its `_key`."""
    labels = {label.element for label in (container.author, container.date) if label is not None}
    labels.update(container.stamps)
    open_elements = {around for label in labels for around in label.iterancestors()} - labels
    inner = list(container.element)
    while inner:
        child = inner.pop()
        if child in elements:
            open_elements.update(child.iterancestors())
        else:
            inner.extend(child)
    found: list[tuple[Element, str]] = []
    stack = [container.element]
    for _ in range(_MAX_ELEMENTS):
        if not stack:
            break
        element = stack.pop()
        if element is not container.element:
            if element in elements or element in labels or element.tag in _BUTTONS:
                continue
            if element not in open_elements and not _has_better(element):
                if element.tag == "img" or _length(element):
                    found.append((element, _key(element)))
                continue
        stack.extend(reversed(element))
    return found


def _has_better(element: Element) -> bool:
    """Return True if one part of an element is named as the text of a post, but not the element."""
    if element.get("itemprop") in ("text", "articleBody", "reviewBody", "commentText") or _is_post_text(element):
        return False
    if is_quote(element) or element.tag not in _CONTAINERS:
        return False
    parts = element.iter("div", "section", "td", "p", "article", "blockquote", "pre")
    others = islice((part for part in parts if part is not element), 60)
    named = (part for part in others if _is_post_text(part) or part.get("itemprop") in ("text", "reviewBody"))
    return any(map(_length, named))


def _is_post_text(element: Element) -> bool:
    return _is_body_name((element.get("class") or "")[:_MAX_NAME].lower())


@lru_cache(maxsize=4_096)
def _is_body_name(name: str) -> bool:
    return _BODY_NAME.search(name) is not None and not _NOISE_NAME.search(name)


def _key(element: Element) -> str:
    around = element.getparent()
    name = strip_digits(" ".join(classes_of(element)[:2]))
    outer = "" if around is None or name else " ".join((around.get("class") or around.tag).split()[:1])
    identity = strip_digits(element.get("id") or "") if not name else ""
    return f"{outer}>{element.tag}.{name}#{identity}"


def _length(element: Element) -> int:
    return len(text_of(element).strip())


def _weight(element: Element) -> float:
    name = f"{(element.get('class') or '')[:_MAX_NAME]} {(element.get('id') or '')[:40]}".lower()
    if element.get("itemprop") in ("text", "articleBody", "reviewBody", "commentText"):
        return 4 * _HINT
    if _NOISE_NAME.search(name):
        return _NOISE
    words = text_of(element)[:2_000]
    linked = sum(len(text_of(link)) for link in element.iter("a"))
    plain = 0.2 if linked > 0.7 * max(len(words), 1) else 1.0
    return plain * (_HINT if _BODY_NAME.search(name) else 1.0)


def _choose(found: Sequence[tuple[Element, str]], totals: Mapping[str, float]) -> list[Element]:
    """Return the elements with the key of the largest total, and later siblings without a class, or quotes."""
    known = [key for _, key in found]
    if not known:
        return []
    best = max(known, key=lambda key: totals[key])
    chosen = [element for element, key in found if key == best]
    parents = {element.getparent() for element in chosen}
    return [
        element
        for element, key in found[known.index(best) :]
        if key == best
        or (
            element.getparent() in parents
            and element.tag in _FLOW
            and not (element.get("class") and not is_quote(element))
            and not _NOISE_NAME.search((element.get("id") or "").lower())
            and (element.tag not in ("div", "span") or is_quote(element))
        )
    ]


def copy_body(elements: Sequence[Element]) -> Element:
    """Return a copy of a post's text in one element, without signature and buttons.

    Quotations become `blockquote`, headings `h4` to `h6`. `elements` must not contain other posts.
    """
    wrapped = _wrap([copy.deepcopy(element) for element in elements])
    for element in list(wrapped.iter()):
        around = element.getparent()
        if element is wrapped or around is None:
            continue
        if element.tag == "td" and around.tag != "tr":
            element.tag = "div"  # the row is the text of the post
        name = (element.get("class") or "")[:_MAX_NAME].lower()
        is_signature = element.tag in ("div", "span", "p") and (element.text or "").lstrip().startswith(_RULE)
        if element.tag in _BUTTONS or _is_control(element) or _REMOVED_NAME.search(name) or is_signature:
            remove(element)
        elif element.tag in HEADINGS:
            element.tag = f"h{min(6, max(4, int(element.tag[1]) + 2))}"
        elif element.tag == "blockquote" and _is_post_text(element):
            element.tag = "div"  # the whole text of a post in vBulletin 4
        elif element.tag != "blockquote" and is_quote(element) and element.find(".//blockquote") is None:
            element.tag = "blockquote"
    return wrapped


def _wrap(copies: Sequence[Element]) -> Element:
    wrapped = copies[0]
    if len(copies) > 1 or wrapped.tag in ("pre", "table", "ul", "ol"):
        wrapped = etree.Element("div")
        for element in copies:
            element.tag = "div" if element.tag in ("td", "tr", "tbody", "li", "dd", "body") else element.tag
            wrapped.append(element)
    wrapped.tag = "div"
    if len(copies) == 1:
        copies[0].tail = None
    return wrapped


def _is_control(element: Element) -> bool:
    words = text_of(element).strip() if element.tag in ("a", "span") and len(element) < 3 else ""
    return 2 < len(words) < 40 and _CONTROL.fullmatch(words) is not None


def read_texts(body: Element) -> tuple[str, str]:
    """Return the text that the author of a post wrote, and the text that the post quotes."""
    segments = segment_body(body)
    quoted: list[bool] = []
    for tag, parent in zip(segments.elements.tags, segments.elements.parents, strict=True):
        quoted.append(tag == "blockquote" or (parent >= 0 and quoted[parent]))
    own: list[str] = []
    others: list[str] = []
    for text, owner in zip(segments.texts, segments.owners, strict=True):
        (others if quoted[owner] else own).append(text)
    return "\n".join(own), "\n".join(others)
