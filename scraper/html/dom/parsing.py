"""Parse HTML of any size and shape into a bounded lxml tree, and select elements, texts and class names in it.

Compiled XPath costs a tenth of the same traversal in Python.
"""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from cssselect import HTMLTranslator, SelectorError
from lxml import etree

from scraper.errors import InvalidArgumentError
from scraper.values.text import read_table

COLLAPSED_ATTRIBUTE = "data-x-folded"
"""Attribute of a hidden element that stays in the tree, because a click reveals it."""

_TAGS = {kind: frozenset(tags.split()) for kind, tags in read_table(__package__, "tags.toml").items()}
HEADINGS, LISTS, CELLS, TABLE_SECTIONS, EMPHASIS, _BLOCKS, _OTHER_BLOCKS, INLINE, VOID, UNREADABLE = _TAGS.values()
"""Tags by the kind of their elements, as `tags.toml` describes them."""
BLOCKS = HEADINGS | LISTS | CELLS | TABLE_SECTIONS | _BLOCKS
"""Blocks of running text, lists and tables."""
ALL_BLOCKS = BLOCKS | _OTHER_BLOCKS
"""All elements that HTML displays as blocks, and the bodies of footnotes."""

Element: TypeAlias = etree._Element

_STRING = etree.XPath("string()", smart_strings=False)


def element_selector(expression: str) -> Callable[[Element], list[Element]]:
    """Return a function that selects the elements that match an expression, in document order."""
    return cast("Callable[[Element], list[Element]]", etree.XPath(expression))


def attribute_selector(attribute: str) -> Callable[[Element], list[Element]]:
    """Return a function that selects all elements of the whole tree that have an attribute.

    This costs a third of `//*[@name]`, grows linearly unlike `//@name/..`, and skips the text nodes that `//@name`
    visits.
    """
    compiled = etree.XPath(f"//*/@{attribute}")

    def select(root: Element) -> list[Element]:
        return [value.getparent() for value in cast("list[Any]", compiled(root))]

    return select


def text_selector(expression: str) -> Callable[[Element], list[str]]:
    """Return a function that selects the values of attributes or the texts that match an expression."""
    return cast("Callable[[Element], list[str]]", etree.XPath(expression, smart_strings=False))


def text_of(element: Element) -> str:
    """Return all text inside an element, without its tail."""
    return cast("str", _STRING(element)) if len(element) else element.text or ""


class Names(NamedTuple):
    """Names in a tree. Callers skip a search for what does not occur: each walk takes a hundredth of the time."""

    tags: frozenset[str]
    classes: str
    """The distinct values of `class`, one per line."""
    attributes: frozenset[str]


def collect_names(root: Element) -> Names:
    """Return the names in a tree, in one walk. XPath expressions take 1.5 times as long."""
    tags, classes = set(), set()
    attributes: set[Any] = set()
    for element in root.iter():
        tags.add(element.tag)
        if keys := element.keys():
            attributes.update(keys)
            if "class" in keys:
                classes.add(element.get("class"))
    return Names(frozenset(tags), "\n".join(filter(None, classes)), frozenset(attributes))


def pad_names(names: str) -> str:
    """Return class names in lower case, with a blank before and after them, for patterns of whole names.

    With `IGNORECASE`, or with an alternative that begins with `^`, a search takes several times as long.
    """
    return f" {names.lower()} "


def find_by_class(root: Element, pattern: re.Pattern[str]) -> Iterator[tuple[Element, list[str]]]:
    """Yield each element whose `class` value matches a pattern, with its list of classes.

    The pattern is searched in the result of `pad_names`.
    """
    matches = cache(lambda classes: pattern.search(pad_names(classes)) is not None)
    for element in list(root.iter("*")):
        if (classes := element.get("class")) and matches(classes):
            yield element, classes.split()


def classes_of(element: Element) -> list[str]:
    """Return the names in the `class` attribute of an element."""
    return (element.get("class") or "").split()


def depth_of(element: Element) -> int:
    """Return the number of ancestors of an element."""
    return sum(1 for _ in element.iterancestors())


_MAX_CHARACTERS = 20_000_000
"""Characters. Above the limit of a fetch; longer text is truncated here."""

_MAX_TAGS = 1_000_000
"""Opening and closing tags. Half as many elements take some 250 MB as a tree and a second to parse."""

MAX_DEPTH = 200
"""Levels. Deeper elements lose their structure and keep their text. Pages made by people stay below 100."""

_MAX_ATTRIBUTES = 2_000
_LONG_TAG = 16_000
"""Characters. Only longer tags can have more than `_MAX_ATTRIBUTES` attributes; such a tag loses all of them. The
parser's cost grows with the square of their number: 2,000 take 3 ms, 40,000 take 1.5 s."""

_TAG = re.compile(r"<!--|<([a-zA-Z][^\s/>]*)(?>(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+)>?")
_QUOTED_OPENINGS = 5_000
_QUOTED_OPENING = ("=<", "='<", '="<')
_INVALID_REFERENCE = re.compile(
    b"&#(?:0*(?:[1-8]|1[124-9]|2[0-9]|3[01]|6553[45])(?![0-9])"
    b"|[xX]0*(?:[1-8bceBCE]|1[0-9a-fA-F]|[fF]{3}[eEfF])(?![0-9a-fA-F]));?"
)
"""Character references that the parser accepts, but whose characters lxml rejects when text is set."""

_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\f\r")
_FORM_FEED_AS_SPACE = bytes.maketrans(b"\f", b" ")
"""HTML has form feeds as white space; lxml rejects them when text is set."""
_NESTING_TAGS = re.compile(
    r"(?:</?(?!(?:html|head|body|base|link|meta|script|style|title)(?=[\s/>]))[a-z][^<>]*+>\s*+)++", re.IGNORECASE
)
"""Tags without text between them that may nest, unlike those that declare what the page is."""

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_BINARY_PROBE = 4_096
_BINARY_SHARE = 0.1
_RAW_TEXT = ("script", "style")
_CLOSINGS = {"!": re.compile("-->")} | {name: re.compile(f"</{name}", re.IGNORECASE | re.ASCII) for name in _RAW_TEXT}
_HEAD_TAGS = frozenset("base link meta noscript script style template title".split())
_ELEMENTS_AT_MAX_DEPTH = element_selector("/" + "/".join("*" * MAX_DEPTH))


@dataclass(frozen=True, slots=True)
class ParsedHtml:
    """A parsed page."""

    root: Element | None
    """Root element; None if the text is empty or binary."""
    degraded: bool = False
    """True if structure or text was lost."""


def parse_html(text: str, *, flatten: bool = True) -> ParsedHtml:
    """Parse HTML into a tree without comments and processing instructions.

    If the parser stops at its depth limit, the result is a tree of paragraphs or, without `flatten`, what it parsed.
    """
    if is_binary(text):
        return ParsedHtml(None, degraded=True)
    bounded = _limit_size(text)
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, huge_tree=True
    )
    is_cut = len(bounded) < len(text)
    bounded = _resolve_xml(bounded) if bounded.lstrip()[:5] == "<?xml" else bounded
    root: Element | None = etree.fromstring(_encode_for_parser(bounded), parser)
    if root is None:
        return ParsedHtml(None)
    # libxml2 stops below 2,048 levels.
    stopped = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    if flatten and stopped and _ELEMENTS_AT_MAX_DEPTH(root):
        flat = _encode_for_parser(_NESTING_TAGS.sub("<p>", bounded))  # paragraphs do not nest
        return ParsedHtml(etree.fromstring(flat, parser), degraded=True)
    _move_strays_to_body(root)
    for element in list(root.iter("dt", "dd")):
        around = element.getparent()
        if around is not None and around.tag in ("dt", "dd"):
            around.addnext(element)  # HTML allows pages to omit the closing tags
    return ParsedHtml(root, degraded=is_cut)


_ENTITY = re.compile(r'<!ENTITY\s+(\w{1,40})\s+"([^"<>&%]{0,200})"\s*>')
_MAX_PROLOG, _MAX_ENTITIES = 5_000, 50


def _resolve_xml(text: str) -> str:
    """Return XHTML with the entities that it declares replaced, and `CDATA` sections as escaped text."""
    for name, value in _ENTITY.findall(text[:_MAX_PROLOG])[:_MAX_ENTITIES]:
        text = text.replace(f"&{name};", value)
    pieces = text.split("<![CDATA[")
    is_raw = False
    for number, piece in enumerate(pieces[1:], 1):
        before = pieces[number - 1]
        opened, closed = max(before.rfind("<script"), before.rfind("<style")), before.rfind("</s")
        is_raw = opened > closed or (is_raw and opened == closed)
        inside, end, behind = piece.partition("]]>")
        pieces[number] = (inside if is_raw or not end else html.escape(inside, quote=False)) + behind
    return "".join(pieces)


def _encode_for_parser(text: str) -> bytes:
    """Encode text without characters that lxml rejects. Searching bytes is faster than searching text."""
    for no_character in ("\ufffe", "\uffff"):
        if no_character in text:  # a search costs a twentieth of a replacement that finds nothing
            text = text.replace(no_character, "")
    return _INVALID_REFERENCE.sub(b"", text.encode("utf-8", "replace")).translate(_FORM_FEED_AS_SPACE, _CONTROLS)


def _move_strays_to_body(root: Element) -> None:
    """Move elements such as `main`, which libxml2 puts in the head if a page omits the tags, into the body."""
    head = root.find("head")
    strays = [] if head is None else [child for child in head if child.tag not in _HEAD_TAGS]
    if not strays:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    strays[-1].tail = (strays[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = strays


def flatten_deep_elements(root: Element) -> bool:
    """Replace elements deeper than `MAX_DEPTH` by their text. Return True if there were any."""
    deep = _ELEMENTS_AT_MAX_DEPTH(root)
    for element in deep:
        for child in element.iterdescendants():
            child.tail = f" {child.tail or ''}"
        text = text_of(element)
        del element[:]
        element.text = text
    return bool(deep)


def remove(element: Element) -> None:
    """Remove an element from its tree, but keep its tail text."""
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


MARKUP_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
"""Start of a body that is HTML, whatever its type says."""


def is_binary(text: str) -> bool:
    """Return True if over a tenth of the first characters are NUL or replacement characters, as in binary data."""
    probe = text[:_BINARY_PROBE]
    return probe.count("\x00") + probe.count("\ufffd") > _BINARY_SHARE * max(len(probe), 1)


def _limit_size(text: str) -> str:
    text = text[:_MAX_CHARACTERS]
    tags = text.count("<")
    while tags > _MAX_TAGS:
        text = text[: len(text) * _MAX_TAGS // tags]
        tags = text.count("<")
    quoted_openings = sum(map(text.count, _QUOTED_OPENING)) if tags > _QUOTED_OPENINGS else 0
    # Only tags without another opening bracket are checked.
    long_tags = filter(None, (_TAG.match(text, at) for at in _find_long_gaps(text)))
    if quoted_openings > _QUOTED_OPENINGS or any(_shorten_tag(tag) != tag.group() for tag in long_tags):
        text = _shorten_long_tags(text)
    return text


def _find_long_gaps(text: str) -> Iterator[int]:
    """Yield opening brackets that are followed by at least `_LONG_TAG` characters before the next one."""
    at = text.find("<")
    while 0 <= at < len(text) - _LONG_TAG:
        last = text.rfind("<", at + 1, at + 1 + _LONG_TAG)
        if last < 0:
            yield at
            last = text.find("<", at + 1 + _LONG_TAG)
        at = last


def _shorten_long_tags(text: str) -> str:
    """Remove the attributes of long tags that have too many of them, but not inside comments, scripts and styles."""
    pieces: list[str] = []
    done = at = 0
    while at >= 0:
        closed = -1
        for match in _TAG.finditer(text, at):
            start, end = match.span()
            if end - start > _LONG_TAG:
                pieces += (text[done:start], _shorten_tag(match))
                done = end
            name = match.group(1) or "!"
            closing = _CLOSINGS.get(name.lower()) if name[0] in "!sS" else None
            if closing is not None:
                found = closing.search(text, end)
                closed = found.start() if found else -1
                break
        at = closed
    pieces.append(text[done:])
    return "".join(pieces)


def _shorten_tag(match: re.Match[str]) -> str:
    tag = match.group()
    if len(tag) <= _LONG_TAG or len(_QUOTED.sub("", tag).split()) <= _MAX_ATTRIBUTES:
        return tag
    return f"<{match.group(1)}>"


def reduce_page(html: str, *, select: str | None, exclude: str | None) -> str:
    """Return the HTML of a page with only the elements of `select`, and without those of `exclude`.

    Raises:
        InvalidArgumentError: A selector is not valid, or `select` matches nothing.
    """
    root = parse_html(html, flatten=False).root
    body = None if root is None else root.find("body")
    if root is None or body is None:
        return html
    for element in _match_selector(body, "exclude", exclude) if exclude else ():
        if element is not body:
            remove(element)
    if select:
        chosen = _match_selector(body, "select", select)
        if not chosen:
            raise InvalidArgumentError(
                f"No element of the page matches select={select[:100]!r}.",
                target="select",
                next_step="Leave it out to see the page; wait_for waits for what scripts add.",
            )
        outermost = [one for one in chosen if not any(outer in chosen for outer in one.iterancestors())]
        main = etree.Element("main")
        for element in outermost:
            element.tail = None
            main.append(element)
        for child in list(body):
            body.remove(child)
        body.text = None
        body.append(main)
    return etree.tostring(root, encoding="unicode", method="html")


def _match_selector(body: Element, name: str, selector: str) -> list[Element]:
    try:
        return element_selector(HTMLTranslator().css_to_xpath(selector))(body)
    except (SelectorError, etree.XPathError) as error:
        raise InvalidArgumentError(
            f"{name} must be a CSS selector, not {selector[:100]!r}: {str(error)[:200]}.", target=name
        ) from None
