"""Pictures that are described, from where they really are."""

from __future__ import annotations

import re

from scraper.extract.dom.urls import image_source
from scraper.extract.dom.xpath import Element
from scraper.extract.markdown.base_rules import Rules, Tags
from scraper.extract.markdown.tree_converter import Node
from scraper.extract.text.sanitize import line

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
        alt = line(_TAG.sub("", element.get("alt") or ""), MAX_ALT)
        if not alt or _is_unseen(element):
            return ""
        label = _SPECIAL.sub(r"\\\g<0>", alt)
        if "_inline" in parent_tags and not ("td" in parent_tags or "th" in parent_tags):
            return label
        if (len(alt) <= _EMOJI_CHARACTERS or _EMOJI_NAME.fullmatch(alt)) and _is_emoji(element):
            return alt
        source = image_source(_strings(element), _sources(element))
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
