"""Split a page into the units of text that a person sees, in document order.

A unit is the text between two borders of blocks, as the style sheet of the HTML standard draws them; an unknown element
is inline. Its pieces are the text nodes. A piece is optional if the page itself gives a reason to leave it out: it is
hidden, it is for screen readers only, or it belongs to a form, a picture or a formula.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain

from benchmarks.integrity.dom import Child, Element, Text
from benchmarks.integrity.words import HIDDEN_CLASSES

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = frozenset(
    "address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form head header hgroup hr html legend li listing main menu nav ol optgroup option p "
    "plaintext pre search section summary table tbody td tfoot th thead title tr ul xmp".split()
) | {*HEADINGS}
"""Elements that the standard's style sheet displays as blocks."""

_KINDS = frozenset("caption dd dt figcaption legend li p pre summary td th".split()) | {*HEADINGS}
_UNREAD = frozenset("audio canvas datalist head iframe map noembed noframes object script style template video".split())
_OPTIONAL = frozenset("dialog math mjx-container meter noscript option progress rp rt select svg textarea".split())
_OPTIONAL_ROLES = ("tooltip", "dialog", "alertdialog", "menu")
_FLAGS = {"a": "link", "button": "button", "sub": "sub", "sup": "sup"} | dict.fromkeys(("del", "s", "strike"), "struck")
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity|font-size)\s*:\s*0(?:\.0*|px|em)?\s*(?:[;!]|\Z)|"
    r"clip\s*:\s*rect|text-indent\s*:\s*-\d{3,}|left\s*:\s*-\d{4,}",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"text-decoration(?:-line)?\s*:[^;]*line-through", re.IGNORECASE)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_LAST_NAME = re.compile(r"[.#][\w-]+(?=(?:::?[\w-]+(?:\([^)]*\))?)*\s*\Z)")
_WORDS_IN = ("alt", "aria-label", "content", "data-text", "datetime", "href", "placeholder", "src", "title", "value")
"""Attributes whose words a reader may write."""

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts without spaces between words: each letter is a token."""
_TOKEN = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+")
_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]")


def tokens_of(text: str) -> list[str]:
    """Return the words of a text as they are compared: lower case, in compatibility form."""
    return _TOKEN.findall(_fold(text))


def squash(text: str) -> str:
    """Return only the letters and digits of a text, as they are compared."""
    return "".join(tokens_of(text))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()


@dataclass(eq=False, slots=True)
class Piece:
    """The text of one node; `node` is None for a line break."""

    text: str
    node: Text | None
    flags: frozenset[str]

    @property
    def is_optional(self) -> bool:
        """True if a reader may leave it out."""
        return "optional" in self.flags

    @property
    def lineage(self) -> list[Element]:
        """Elements around the text, the nearest first."""
        return list(self.node.parent.lineage()) if self.node is not None and self.node.parent is not None else []


@dataclass(eq=False)
class Unit:
    """Text between two borders of blocks."""

    number: int
    block: Element
    pieces: list[Piece]

    @cached_property
    def kind(self) -> str:
        """Tag of the nearest element around it that has a meaning."""
        return next((node.tag for node in self.block.lineage() if node.tag in _KINDS), self.block.tag)

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return "".join(piece.text for piece in self.pieces)

    @cached_property
    def needed_text(self) -> str:
        """The text without optional pieces, trimmed."""
        return "".join(piece.text for piece in self.pieces if not piece.is_optional).strip()

    @cached_property
    def _words(self) -> list[tuple[str, int, int]]:
        """Each token with the numbers of the pieces in which it begins and ends."""
        folded = [_fold(piece.text) for piece in self.pieces]
        starts = [0, *accumulate(map(len, folded))]
        return [
            (found[0], bisect_right(starts, found.start()) - 1, bisect_right(starts, found.end() - 1) - 1)
            for found in _TOKEN.finditer("".join(folded))
        ]

    @cached_property
    def tokens(self) -> list[str]:
        """Words as they are compared."""
        return [word for word, _, _ in self._words]

    def span(self, token: int) -> tuple[int, int]:
        """Return the numbers of the first and the last piece of a token."""
        return self._words[token][1:]

    def flags(self, token: int) -> frozenset[str]:
        """Return the flags of the pieces of a token."""
        first, last = self.span(token)
        return frozenset().union(*(piece.flags for piece in self.pieces[first : last + 1]))

    @cached_property
    def needed(self) -> list[bool]:
        """For each token, True if no piece of it is optional."""
        return ["optional" not in self.flags(token) for token in range(len(self.tokens))]

    @cached_property
    def squashed(self) -> str:
        """All letters and digits."""
        return "".join(self.tokens)

    @cached_property
    def needed_squashed(self) -> str:
        """Letters and digits of the needed tokens."""
        return "".join(token for token, needed in zip(self.tokens, self.needed, strict=True) if needed)

    @property
    def is_optional(self) -> bool:
        """True if a reader may leave out all of it."""
        return not self.needed_squashed

    @cached_property
    def is_misread(self) -> bool:
        """True if the page was decoded in the wrong charset: a reader may repair it."""
        return any("\x80" <= sign <= "\x9f" for sign in self.text)

    @cached_property
    def link_share(self) -> float:
        """Share of its characters in links."""
        lengths = [(len(piece.text.strip()), "link" in piece.flags) for piece in self.pieces]
        return sum(length for length, linked in lengths if linked) / max(1, sum(length for length, _ in lengths))

    def inside(self, *tags: str) -> Element | None:
        """Return the nearest element around it with one of the tags."""
        return next((node for node in self.block.lineage() if node.tag in tags), None)


@dataclass(eq=False)
class Page:
    """A page with its units."""

    root: Element
    units: list[Unit]
    within: dict[Element, list[Unit]]
    """Units in each visible element, at any depth."""

    @cached_property
    def everything(self) -> str:
        """All text of the page, with scripts and attributes, squashed."""
        return squash(" ".join([*(text.data for text in self.root.texts()), *self._attributes]))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """All words that a reader may have read."""
        texts = [*(text.data for text in self.root.texts()), *self._attributes]
        return frozenset(chain(*map(tokens_of, texts), *(unit.tokens for unit in self.units)))

    @property
    def _attributes(self) -> list[str]:
        return [element.get(name) for element in self.root.iter() for name in _WORDS_IN if name in element.attrs]


def read_page(root: Element) -> Page:
    """Return the units of a page."""
    walker = _Walker(_hiding_names(root))
    walker.walk(next(root.iter("body"), root))
    within = {element: walker.units[start:end] for element, (start, end) in walker.ranges.items()}
    return Page(root, walker.units, within)


def _hiding_names(root: Element) -> frozenset[str]:
    """Return `.class` and `#id` names that a style sheet in the page hides somewhere."""
    return frozenset(
        name[0]
        for sheet in root.iter("style")
        for selectors, declarations in _RULE.findall(sheet.text())
        if _HIDING.search(declarations)
        for selector in selectors.split(",")
        if (name := _LAST_NAME.search(selector))
    )


class _Walker:
    """Collect units in document order. Pages may be deep, so there is no recursion."""

    def __init__(self, hiding: frozenset[str]) -> None:
        self.units: list[Unit] = []
        self.ranges: dict[Element, tuple[int, int]] = {}
        self._hiding = hiding
        self._pieces: list[Piece] = []

    def walk(self, body: Element) -> None:
        """Walk through an element; `units` and `ranges` then hold what is in it."""
        stack: list[tuple[Child, Element, frozenset[str], bool]] = [(body, body, frozenset(), False)]
        while stack:
            node, owner, around, is_end = stack.pop()
            if isinstance(node, Text):
                self._pieces.append(Piece(node.data, node, around))
            elif not isinstance(node, Element) or node.tag in _UNREAD:
                continue
            elif is_end:
                self._close(node)
            elif node.tag == "br":
                if self._follows_break():
                    self._border(owner)
                else:
                    self._pieces.append(Piece("\n", None, around))
            else:
                is_block = node.tag in BLOCKS
                if is_block:
                    self._border(owner)
                self.ranges[node] = (len(self.units), len(self._pieces))
                flags = around | self._flags(node)
                stack.append((node, owner, flags, True))
                stack.extend((child, node if is_block else owner, flags, False) for child in reversed(node.children))

    def _close(self, element: Element) -> None:
        if element.tag in BLOCKS:
            self._border(element)
        first, before = self.ranges[element]
        own = self._pieces[before if first == len(self.units) else 0 :]
        self.ranges[element] = (first, len(self.units) + _has_text(own))

    def _border(self, owner: Element) -> None:
        if _has_text(self._pieces):
            self.units.append(Unit(len(self.units), owner, self._pieces))
        self._pieces = []

    def _follows_break(self) -> bool:
        """Return True if the last piece that is not blank is a line break."""
        last = next((piece for piece in reversed(self._pieces) if piece.node is None or piece.text.strip()), None)
        return last is not None and last.node is None

    def _flags(self, element: Element) -> set[str]:
        flags = {_FLAGS[element.tag]} if element.tag in _FLAGS else set()
        if element.attrs:
            if element.get("role") == "button":
                flags.add("button")
            if _STRUCK.search(element.get("style")):
                flags.add("struck")
        if (element.tag in _OPTIONAL and "open" not in element.attrs) or self._is_hidden(element):
            flags.add("optional")
        return flags

    def _is_hidden(self, element: Element) -> bool:
        names = element.get("class")
        return bool(element.attrs) and (
            bool(_HIDING.search(element.get("style")) or any(HIDDEN_CLASSES.fullmatch(n) for n in names.split()))
            or not element.attrs.keys().isdisjoint(("hidden", "popover"))
            or element.get("aria-hidden") == "true"
            or element.get("role") in _OPTIONAL_ROLES
            or f"#{element.get('id')}" in self._hiding
            or any(f".{name}" in self._hiding for name in names.split())
        )


def _has_text(pieces: Iterable[Piece]) -> bool:
    return any(piece.text.strip() for piece in pieces)
