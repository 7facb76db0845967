"""Convert links, video players and images into Markdown."""

import re

from scraper.extract.markdown.tree_converter import MarkdownRules, Tags, edge_whitespace
from scraper.html.dom.parsing import HEADINGS, Element, classes_of, text_of
from scraper.html.dom.urls import find_image_source
from scraper.text.sanitize import clean_line
from scraper.text.terms import split_words
from scraper.values.text import is_balanced, read_table

_MAX_LINKS = 1_000
"""Links in the list of links; the Markdown has all links."""
_MAX_LINK_TEXT = 300
_MAX_TITLE = 100
"""Characters of a player's title. It is invisible on the page, so it is kept short."""

_PERMALINK_TEXTS = frozenset({"#", "\u00b6", "\u00a7", "\U0001f517", "\uf0c1", "\u200b", "\u25c6", "\u2191"})
_PERMALINK_WORDS = frozenset({"link", "permalink", "anchor", "copy link", "link to this section", "direct link"})
_PERMALINK_CLASSES = frozenset(read_table(__package__, "callouts.toml")["permalinks"].split())
_TITLE_CONTEXTS = frozenset({"_inline", "dt"})
"""Tags around a link that may be the link's own target."""
_HASHES = re.compile(r"(?<!\S)#{1,6} ")
_PLAIN_LINE = re.compile(r"[^\W_]|[\"(\u201c\u00ab\u300c\u00bf\u00a1]")


_MAX_ALT = 200
"""Characters. The rest of a longer text is cut off: it is not a description, but invisible text."""

_MAX_IMAGES = 300
"""Images in the list of images; the Markdown has all images."""
_EMOJI_CHARACTERS = 4
_EMOJI_NAME = re.compile(r":[\w+-]{1,40}:")
_EMOJI_NAMES = ("emoji", "smiley", "smilie")
_TAG = re.compile(r"</?[a-z][^<>]{0,40}>", re.IGNORECASE)
"""Tags in descriptions. Templates leave them there without a meaning."""

_INVISIBLE_SIZES = frozenset({"0", "1", "2", "0px", "1px", "2px"})
"""Sizes of tracking pixels; images of these sizes are dropped even if they have a description."""


def escape_label(text: str) -> str:
    """Escape a link label so that its brackets stay balanced and nothing in it becomes a link."""
    if text.endswith("\\"):
        text += "\\"
    is_plain = "](" not in text and is_balanced(text, "[", "]")
    return text if is_plain else text.replace("[", "\\[").replace("]", "\\]")


class LinkImageRules(MarkdownRules):
    """Rules of `a`, `img` and video players."""

    def convert_a(self, element: Element, text: str, parent_tags: Tags) -> str:
        """Return the link; permalinks are removed, and links to their own title become text."""
        label = " ".join(text.split())
        if not label or "_noformat" in parent_tags:
            return text
        href = element.get("href")
        anchor = href[1:] if href and href[0] == "#" else None
        # A link to the heading or term that contains it.
        is_in_title = anchor is not None and not parent_tags.isdisjoint(_TITLE_CONTEXTS)
        title = next(element.iterancestors("dt", *HEADINGS), None) if is_in_title else None
        is_of_title = title is not None and anchor in (title.get("id"), element.get("id"), element.get("name"))
        if _is_permalink(element, label, is_of_title=is_of_title):
            last = self.plain_pieces[-1]
            if isinstance(last, str) and last.strip() == label:
                self.plain_pieces.pop()
            return ""
        if is_of_title:
            return text
        url = self.url_resolver.absolute(href)
        if not url:
            return text
        card = text.strip()  # a link around a heading or several blocks
        if "_inline" not in parent_tags and ("\n\n" in card or (text[0] == "\n" and _HASHES.match(card))):
            return self._format_card(card, url, element)
        label = _HASHES.sub("", label)
        self._record_link(url, label, element)
        linked = f"<{url}>" if label.replace("\\", "") == url else f"[{label}]({url})"
        if text[0] == "\n" and "_inline" not in parent_tags:
            return f"\n\n{linked}\n\n"
        before, after = edge_whitespace(text)
        return f"{before}{linked}{after}"

    def _format_card(self, text: str, url: str, element: Element) -> str:
        """Return a link around several blocks as a link on its heading or first line only."""
        blocks = text.split("\n\n")
        matches = (at for start in (_HASHES, _PLAIN_LINE) for at, block in enumerate(blocks) if start.match(block))
        at = next(matches, None)
        if at is None or "](" in blocks[at]:
            label = " ".join(_HASHES.sub("", text).split())
            blocks, at = [label], 0
        marks = _HASHES.match(blocks[at])
        label = blocks[at][marks.end() if marks else 0 :].strip()
        self._record_link(url, label, element)
        blocks[at] = f"{marks.group() if marks else ''}[{' '.join(label.split())}]({url})"
        return "\n\n" + "\n\n".join(blocks) + "\n\n"

    def convert_videolink(self, element: Element, text: str, parent_tags: Tags) -> str:
        """Return a line with a link to the page of the video."""
        label = escape_label(clean_line(element.get("title") or element.get("playlabel") or "", _MAX_TITLE) or "Video")
        url = self.url_resolver.absolute(element.get("href"))
        if not url or "_noformat" in parent_tags or "a" in parent_tags:
            return ""
        self.links.setdefault(url, label)
        linked = f"[{label}]({url})"
        return f" {linked} " if "_inline" in parent_tags else f"\n\n{linked}\n\n"

    def _record_link(self, url: str, label: str, element: Element) -> None:
        if url not in self.links and len(self.links) < _MAX_LINKS:
            plain = text_of(element) if any(mark in label for mark in "\\*`!") else label
            self.links[url] = clean_line(plain, _MAX_LINK_TEXT)

    def convert_img(self, element: Element, text: str, parent_tags: Tags) -> str:
        """Return an image that has a description or stands in a figure with a caption; others are dropped.

        A heading only gets the description; an emoji becomes a character.
        """
        alt = clean_line(_TAG.sub("", element.get("alt") or element.get("aria-label") or ""), _MAX_ALT)
        is_point = element.get("width") in _INVISIBLE_SIZES and element.get("height") in _INVISIBLE_SIZES
        lazy = (name for name in map(str, element.keys()) if name == "srcset" or name.startswith("data-"))
        if (is_point and not any(lazy)) or (not alt and not _has_caption(element)):
            return ""
        label = alt.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
        if "_inline" in parent_tags and not ("td" in parent_tags or "th" in parent_tags):
            return label
        if _is_emoji(element, alt):
            return alt
        source = find_image_source(element, _find_picture_set(element))
        url = self.url_resolver.absolute(source)
        if not url:
            return f"(image: {label})" if label and source.startswith("data:") else ""
        if len(self.images) < _MAX_IMAGES:
            self.images.setdefault(url, alt)
        return f"![{label}]({url})"


def _has_caption(element: Element) -> bool:
    if any(around.get("aria-hidden") == "true" for around in element.iterancestors("picture")):
        return False
    captions = (caption for figure in element.iterancestors("figure") for caption in figure.iter("figcaption"))
    return any(text_of(caption).strip() for caption in captions)


def _is_emoji(element: Element, alt: str) -> bool:
    names = f"{element.get('class') or ''} {element.get('src') or ''}"[:1_000].lower()
    is_short = len(alt) <= _EMOJI_CHARACTERS or _EMOJI_NAME.fullmatch(alt) is not None
    return is_short and any(name in names for name in _EMOJI_NAMES)


def _find_picture_set(element: Element) -> str:
    """Return the first `srcset` of the `picture` around an image, or an empty text."""
    picture = element.getparent()
    sources = picture.iterchildren("source") if picture is not None and picture.tag == "picture" else ()
    return next(filter(None, (source.get("srcset") or source.get("data-srcset") for source in sources)), "")


def _is_permalink(element: Element, label: str, *, is_of_title: bool) -> bool:
    """Return True if a link contains only a sign, a picture or a word that stands for its own address."""
    if label in _PERMALINK_TEXTS or label.lower().startswith("![permalink]"):
        return True
    is_named = is_of_title and label.lower() in _PERMALINK_WORDS
    if not is_named and _PERMALINK_CLASSES.isdisjoint(classes_of(element)):
        return False
    # With all words of its heading, as markdown-it and Documenter write it, a link is no permalink.
    heading = next(element.iterancestors(*HEADINGS), None)
    return heading is None or len(split_words(text_of(heading))) != len(split_words(text_of(element)))
