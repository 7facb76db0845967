"""Links: absolute, safe in Markdown, without the marks that only point back at their own heading."""

from __future__ import annotations

import re

from scraper.extract.dom.urls import find_image_source
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.markdown.base_rules import Rules, Tags, edge_whitespace
from scraper.extract.markdown.tree_converter import Node
from scraper.extract.text.sanitize import clean_line

MAX_LINKS = 1_000
MAX_LINK_TEXT = 300
_MAX_TITLE = 100
"""Of a player: nobody sees it, so it is kept short."""

_PERMALINKS = frozenset({"#", "\u00b6", "\u00a7", "\U0001f517", "\uf0c1", "\u200b", "\u25c6", "\u2191"})
_PERMALINK_PICTURE = re.compile(r"!\[permalink\]", re.IGNORECASE)
_PERMALINK_CLASSES = frozenset(
    "headerlink header-anchor hash-link anchorjs-link heading-anchor anchor-link docs-heading-anchor "
    "docs-heading-anchor-permalink tsd-anchor-icon sl-anchor-link".split()
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TITLES = frozenset({"_inline", "dt"})
"""The tags around a link that may lead to what it stands in."""
_HASHES = re.compile(r"(?:^|(?<=\s))#{1,6} ")
_HEADING = re.compile(r"#{1,6} ")
_PLAIN_LINE = re.compile(r"[^\W_]|[\"(\u201c\u00ab\u300c\u00bf\u00a1]")
_BRACKET = re.compile(r"[\[\]]")


def escape_label(text: str) -> str:
    """Text inside of a link's brackets, so that they still pair and nothing in it becomes a link."""
    if text.endswith("\\"):
        text += "\\"
    if ("[" in text or "]" in text) and ("](" in text or not _pairs(text)):
        return _BRACKET.sub(r"\\\g<0>", text)
    return text


def _pairs(text: str) -> bool:
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket == "[" else -1
        if depth < 0:
            return False
    return depth == 0


class LinkRules(Rules):
    """The rule of `a`."""

    def convert_a(self, el: Node, text: str, parent_tags: Tags) -> str:
        label = " ".join(text.split())
        if not label or "_noformat" in parent_tags:
            return text
        element = el.element
        if (
            label in _PERMALINKS
            or _PERMALINK_PICTURE.match(label)
            or (_is_permalink(element) and not _is_whole_heading(element))
        ):
            self._take_back(label)
            return ""
        href = element.get("href")
        if (
            href
            and href[0] == "#"
            and not parent_tags.isdisjoint(_TITLES)
            and _points_at_own(element, href[1:])
        ):
            return text
        url = self.addresses.absolute(href)
        if not url:
            return text
        if "_inline" not in parent_tags and (card := _card_in(text)):
            own = href is not None and href[0] == "#" and _holds_own_heading(element, href[1:])
            return text if own else self._card(card, url, element)
        if "#" in label:
            label = _HASHES.sub("", label)
        self._note(url, label, element)
        linked = f"<{url}>" if label.replace("\\", "") == url else f"[{label}]({url})"
        if text[0] == "\n" and "_inline" not in parent_tags:
            return f"\n\n{linked}\n\n"
        before, after = edge_whitespace(text)
        return f"{before}{linked}{after}"

    def _card(self, text: str, url: str, element: Element) -> str:
        """A link around blocks: its heading or first line leads there, the others stay as they are."""
        blocks = text.split("\n\n")
        at = next((place for place, one in enumerate(blocks) if _HEADING.match(one)), None)
        if at is None:
            at = next((place for place, one in enumerate(blocks) if _PLAIN_LINE.match(one)), None)
        if at is None or "](" in blocks[at]:
            label = " ".join(_HASHES.sub("", text).split())
            blocks, at = [label], 0
        marks = _HEADING.match(blocks[at])
        label = blocks[at][marks.end() if marks else 0 :].strip()
        self._note(url, label, element)
        blocks[at] = f"{marks.group() if marks else ''}[{' '.join(label.split())}]({url})"
        return "\n\n" + "\n\n".join(blocks) + "\n\n"

    def convert_videolink(self, el: Node, text: str, parent_tags: Tags) -> str:
        """The player of a video: a line that leads to its page."""
        element = el.element
        label = escape_label(
            clean_line(element.get("title") or element.get("playlabel") or "", _MAX_TITLE) or "Video"
        )
        url = self.addresses.absolute(element.get("href"))
        if not url or "_noformat" in parent_tags or "a" in parent_tags:
            return ""
        self.links.setdefault(url, label)
        linked = f"[{label}]({url})"
        return f" {linked} " if "_inline" in parent_tags else f"\n\n{linked}\n\n"

    def _take_back(self, label: str) -> None:
        last = self.said[-1]
        if isinstance(last, str) and last.strip() == label:
            self.said.pop()

    def _note(self, url: str, label: str, element: Element) -> None:
        if url not in self.links and len(self.links) < MAX_LINKS:
            plain = label if label.isalnum() or not re.search(r"[\\*`!]", label) else text_of(element)
            self.links[url] = clean_line(plain, MAX_LINK_TEXT)


def _card_in(text: str) -> str:
    """What a link is set around, if that is a heading or several blocks; empty for anything else."""
    card = text.strip()
    return card if "\n\n" in card or (text[0] == "\n" and _HEADING.match(card)) else ""


def _holds_own_heading(element: Element, name: str) -> bool:
    """Whether a link is set around the heading that it leads to."""
    if next(element.iterdescendants(*_HEADINGS), None) is None:
        return False
    return name == element.get("id") or any(name == inner.get("id") for inner in element.iterdescendants())


def _is_permalink(element: Element) -> bool:
    classes = element.get("class")
    return classes is not None and not _PERMALINK_CLASSES.isdisjoint(classes.split())


def _is_whole_heading(element: Element) -> bool:
    """Whether a heading holds nothing but a link, as markdown-it writes it: then its text is the title."""
    parent = element.getparent()
    while parent is not None and len(parent) == 1:
        if (parent.text or "").strip() or (element.tail or "").strip():
            return False
        if parent.tag in _HEADINGS:
            return True
        element, parent = parent, parent.getparent()
    return False


def _points_at_own(element: Element, name: str) -> bool:
    """Whether a link is in the heading or term that it leads to."""
    title = next(element.iterancestors("dt", *_HEADINGS), None)
    return title is not None and name in (title.get("id"), element.get("id"), element.get("name"))


MAX_ALT = 200
"""A longer alternative text is not a description but a place to put text that nobody sees."""

MAX_IMAGES = 300
_EMOJI_CHARACTERS = 4
_EMOJI_NAME = re.compile(r":[\w+-]{1,40}:")
_EMOJI = re.compile(r"emoji|smil(?:ey|ie)|twemoji", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]{0,40}>", re.IGNORECASE)
"""Templates leave them in descriptions, where they mean nothing."""

_UNSEEN_SIZES = frozenset({"0", "1", "2", "0px", "1px", "2px"})
"""Of a picture that counts visitors, whatever it is described as."""

_SPECIAL = re.compile(r"[\\\[\]]")


class ImageRules(Rules):
    """The rule of `img`."""

    def convert_img(self, el: Node, text: str, parent_tags: Tags) -> str:
        """Only described pictures; a heading keeps the description alone, an emoji is a character."""
        element = el.element
        alt = clean_line(_TAG.sub("", element.get("alt") or ""), MAX_ALT)
        if not alt or _is_unseen(element):
            return ""
        label = _SPECIAL.sub(r"\\\g<0>", alt)
        if "_inline" in parent_tags and not ("td" in parent_tags or "th" in parent_tags):
            return label
        if (len(alt) <= _EMOJI_CHARACTERS or _EMOJI_NAME.fullmatch(alt)) and _is_emoji(element):
            return alt
        source = find_image_source(_strings(element), _sources(element))
        url = self.addresses.absolute(source)
        if not url:
            return f"![{label}]()" if source.startswith("data:") else ""
        if len(self.images) < MAX_IMAGES:
            self.images.setdefault(url, alt)
        return f"![{label}]({url})"


def _is_unseen(image: Element) -> bool:
    """Whether it is a point, and none that a script replaces by the picture."""
    if image.get("width") not in _UNSEEN_SIZES or image.get("height") not in _UNSEEN_SIZES:
        return False
    return not any(name == "srcset" or name.startswith("data-") for name in _strings(image))


def _is_emoji(image: Element) -> bool:
    return _EMOJI.search(f"{image.get('class') or ''} {image.get('src') or ''}"[:1_000]) is not None


def _strings(element: Element) -> dict[str, str]:
    return {str(name): str(value) for name, value in element.attrib.items()}


def _sources(image: Element) -> str:
    """The candidates of the `picture` around an image."""
    parent = image.getparent()
    if parent is None or parent.tag != "picture":
        return ""
    sources = (source.get("srcset") or source.get("data-srcset") for source in parent.iterchildren("source"))
    return next((candidates for candidates in sources if candidates), "")
