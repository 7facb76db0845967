"""HTML of any size and shape becomes a tree of bounded size and depth, or mere text where none can be had."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from scraper.extract.dom.xpath import Element, element_selector, text_of

MAX_CHARACTERS = 20_000_000
"""Beyond what a visit lets in; a longer text is cut here."""

MAX_TAGS = 1_000_000
"""Opening and closing ones: half as many elements, some 250 MB as a tree, a second to parse."""

MAX_DEPTH = 200
"""Deeper elements give up their structure and keep their text. Pages that people made stay below 100."""

_MAX_ATTRIBUTES = 2_000
_LONG_TAG = 16_000
"""Characters in which as many attributes may stand. The parser's cost grows with the square of their number:
2,000 take 3 ms, 40,000 take 1.5 s. A tag with more loses them all."""

_TAG = re.compile(r"<!--|<([a-zA-Z][^\s/>]*)(?>(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+)>?")
_QUOTED_OPENINGS = 5_000

_QUOTED_OPENING = re.compile("=[\"']?<")
_NO_CHARACTER = re.compile(
    b"&#(?:0*(?:[1-8]|1[124-9]|2[0-9]|3[01]|6553[45])(?![0-9])"
    b"|[xX]0*(?:[1-8bceBCE]|1[0-9a-fA-F]|[fF]{3}[eEfF])(?![0-9a-fA-F]));?"
)
"""The parser lets these in, spelled as references; a tree takes no text back that holds one."""

_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\f\r")

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_BINARY_PROBE = 4_096
_BINARY_SHARE = 0.1

_RAW_TEXT = ("script", "style")
_CLOSINGS = {"!": re.compile("-->")} | {
    name: re.compile(f"</{name}", re.IGNORECASE | re.ASCII) for name in _RAW_TEXT
}

_OF_THE_HEAD = frozenset("base link meta noscript script style template title".split())

_AT_LIMIT = element_selector("/" + "/".join("*" * MAX_DEPTH))


@dataclass(frozen=True, slots=True)
class ParsedHtml:
    """A parsed page; `root` is None where there was nothing to parse. `degraded`: something was given up."""

    root: Element | None
    degraded: bool = False


def parse_html(text: str, *, flatten: bool = True) -> ParsedHtml:
    """The tree of an HTML text, without comments and processing instructions.

    Where the parser gives up on the depth of a page, its paragraphs stand in for it; with `flatten` off the
    tree as far as it goes.
    """
    if is_binary(text):
        return ParsedHtml(None, degraded=True)
    bounded = _bounded(text)
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, huge_tree=True
    )
    root: Element | None = etree.fromstring(_encoded(bounded), parser)
    if root is None:
        return ParsedHtml(None)
    if flatten and _gave_up(parser) and _AT_LIMIT(root):
        return ParsedHtml(_flat(bounded), degraded=True)
    _empty_head(root)
    _close_terms(root)
    return ParsedHtml(root, degraded=len(bounded) < len(text))


def _encoded(text: str) -> bytes:
    """For the parser, without what is no character. Bytes are looked through faster than text."""
    for no_character in ("\ufffe", "\uffff"):
        if no_character in text:  # looking costs a twentieth of replacing nothing
            text = text.replace(no_character, "")
    return _NO_CHARACTER.sub(b"", text.encode("utf-8", "replace")).translate(None, _CONTROLS)


def _empty_head(root: Element) -> None:
    """Move to the body what is none of the head's.

    libxml2 knows the elements of HTML 4: where the tags of head and body are left out, as they may be, it
    takes `main` and `article` for parts of the head.
    """
    head = root.find("head")
    strays = [] if head is None else [child for child in head if child.tag not in _OF_THE_HEAD]
    if not strays:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    strays[-1].tail = (strays[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = strays


def _close_terms(root: Element) -> None:
    """Put a `dt` or `dd` that stands in another behind it: their closing tags may be left out."""
    for element in list(root.iter("dt", "dd")):
        around = element.getparent()
        if around is not None and around.tag in ("dt", "dd"):
            around.addnext(element)


def flatten_deep_elements(root: Element) -> bool:
    """Turn what lies deeper than `MAX_DEPTH` into text of its ancestor there; whether there was any."""
    deep = _AT_LIMIT(root)
    for element in deep:
        for child in element.iterdescendants():
            child.tail = f" {child.tail or ''}"
        text = text_of(element)
        del element[:]
        element.text = text
    return bool(deep)


def remove(element: Element) -> None:
    """Take an element out of its tree and leave the text behind it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


def is_binary(text: str) -> bool:
    """Whether a text is no text: bytes of something else, decoded."""
    probe = text[:_BINARY_PROBE]
    odd = probe.count("\x00") + probe.count("\ufffd")
    return odd > _BINARY_SHARE * max(len(probe), 1)


def _bounded(text: str) -> str:
    text = text[:MAX_CHARACTERS]
    tags = text.count("<")
    while tags > MAX_TAGS:
        text = text[: len(text) * MAX_TAGS // tags]
        tags = text.count("<")
    if len(text) > _LONG_TAG and (
        _has_long_tag(text) or (tags > _QUOTED_OPENINGS and _has_quoted_openings(text))
    ):
        text = _with_short_tags(text)
    return text


def _has_long_tag(text: str) -> bool:
    """Whether a tag has to be shortened, as far as it holds no other opening bracket."""
    tags = (_TAG.match(text, at) for at in _before_stretches(text))
    return any(tag is not None and _short_tag(tag) != tag.group() for tag in tags)


def _before_stretches(text: str) -> Iterator[int]:
    """The opening brackets behind which as many characters as a long tag has stand before the next one."""
    at = text.find("<")
    while 0 <= at < len(text) - _LONG_TAG:
        last = text.rfind("<", at + 1, at + 1 + _LONG_TAG)
        if last < 0:
            yield at
            last = text.find("<", at + 1 + _LONG_TAG)
        at = last


def _has_quoted_openings(text: str) -> bool:
    return len(_QUOTED_OPENING.findall(text)) > _QUOTED_OPENINGS


def _with_short_tags(text: str) -> str:
    """The text with its longest tags shortened; what a comment, script or style holds is no tag."""
    kept: list[str] = []
    done = at = 0
    while at >= 0:
        closed = -1
        for match in _TAG.finditer(text, at):
            start, end = match.span()
            if end - start > _LONG_TAG:
                kept += (text[done:start], _short_tag(match))
                done = end
            closing = _closing(match) if text[start + 1] in "!sS" else None
            if closing is not None:
                found = closing.search(text, end)
                closed = found.start() if found else -1
                break
        at = closed
    kept.append(text[done:])
    return "".join(kept)


def _closing(match: re.Match[str]) -> re.Pattern[str] | None:
    """What ends the text behind an opening, if that holds no tags."""
    name = (match.group(1) or "!").lower()
    return _CLOSINGS.get(name)


def _short_tag(match: re.Match[str]) -> str:
    tag = match.group()
    if len(tag) <= _LONG_TAG or len(_QUOTED.sub("", tag).split()) <= _MAX_ATTRIBUTES:
        return tag
    return f"<{match.group(1)}>"


def _gave_up(parser: etree.HTMLParser) -> bool:
    """The parser stops for good below 2,048 levels, and says so."""
    return any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)


def _flat(text: str) -> Element:
    """A tree of paragraphs, one for each run of text between tags."""
    body = etree.Element("body")
    for piece in _between_tags(text):
        if piece.strip():
            paragraph = etree.SubElement(body, "p")
            paragraph.text = _legal(html.unescape(piece))
    root = etree.Element("html")
    root.append(body)
    return root


def _between_tags(text: str) -> Iterator[str]:
    """The text outside of tags, comments, scripts and styles, in one pass whatever is left open."""
    lowered = text.lower() if len(text.lower()) == len(text) else text
    at = 0
    while at >= 0:
        opening = text.find("<", at)
        yield text[at:] if opening < 0 else text[at:opening]
        if opening < 0:
            return
        name = next((name for name in _RAW_TEXT if lowered.startswith(name, opening + 1)), None)
        if text.startswith("<!--", opening):
            at = _behind(text, "-->", opening)
        elif name is not None:
            at = _behind(text, ">", lowered.find(f"</{name}", opening))
        elif text[opening + 1 : opening + 2].isalpha() or text.startswith(("</", "<!", "<?"), opening):
            at = _behind(text, ">", opening)
        else:
            yield "<"
            at = opening + 1


def _behind(text: str, mark: str, at: int) -> int:
    """The place behind the next mark; negative where there is none."""
    found = text.find(mark, at) if at >= 0 else -1
    return found + len(mark) if found >= 0 else -1


_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _legal(text: str) -> str:
    """lxml takes only what XML allows."""
    return _ILLEGAL.sub("\ufffd", text)
