"""The text of a page by one linear pass over its letters, for pages that no tree can be made of in time.

No parser, no recursion, nothing that grows faster than the page: what is marked as out of sight is left out
as far as tags alone tell it, and everything else is kept, navigation included.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from browsers.model import Snapshot
from scraper.extract.dom.parsing import is_binary
from scraper.extract.page.css_visibility import hides_text, parse_declarations
from scraper.extract.text import sanitize
from scraper.model import Document, Verdict, VerdictKind

MAX_CHARACTERS = 8_000_000
"""Of HTML; two seconds of work. The rest is cut off."""

MAX_TEXT = 1_000_000

_MAX_TITLE = 300
_ATTRIBUTES = 2_000
"""How much of a tag is looked at: what hides an element stands among its first attributes."""

_RAW = frozenset("script style template title textarea svg canvas object iframe noscript".split())
"""Elements whose content is not shown."""

_BLOCKS = frozenset(
    "address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form h1 h2 "
    "h3 h4 h5 h6 header hr li main nav ol option p pre section summary table td th tr ul".split()
)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_HIDDEN = re.compile(r"\s(?:data-x-hidden|hidden|popover)(?=[\s>=/]|$)", re.IGNORECASE)
_STYLE = re.compile(r"\sstyle\s*=\s*(?:\"([^\"]*)|'([^']*)|([^\s>]+))", re.IGNORECASE)
_MAX_STYLES = 20_000
"""Styles that are read, at some 20 us each; a page with more is hostile or a spreadsheet."""

_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,40}")
_BREAKS = re.compile(r"[ \t\r\f\v]*\n[\s]*")
_BLANKS = re.compile(r"[ \t\r\f\v]+")


@dataclass(slots=True)
class _Unseen:
    """The hidden element that the pass is in, and how many of its name are open in it."""

    name: str = ""
    depth: int = 0

    def open(self, name: str) -> None:
        if not self.name:
            self.name = name
        self.depth += name == self.name

    def close(self, name: str) -> None:
        self.depth -= name == self.name
        if self.depth <= 0:
            self.name, self.depth = "", 0


@dataclass(slots=True)
class _Pass:
    """One pass over a page."""

    text: str
    lowered: str
    at: int = 0
    title: str = ""
    styles: int = 0
    unseen: _Unseen = field(default_factory=_Unseen)

    def pieces(self) -> Iterator[str]:
        """What stands between the tags, and a line break for each block."""
        while self.at >= 0:
            opening = self.text.find("<", self.at)
            if not self.unseen.name:
                yield self.text[self.at :] if opening < 0 else self.text[self.at : opening]
            if opening < 0:
                return
            yield self._tag(opening)

    def _tag(self, opening: int) -> str:
        """Go behind the tag that begins here; what it puts into the text."""
        if self.text.startswith("<!--", opening):
            self.at = self._behind("-->", opening)
            return ""
        closing = self.text.startswith("</", opening)
        name = _NAME.match(self.lowered, opening + 1 + closing)
        if name is None:
            declares = self.text.startswith(("<!", "<?", "</"), opening)
            self.at = self._behind(">", opening) if declares else opening + 1
            return "" if declares or self.unseen.name else "<"
        self.at = self._behind(">", opening)
        self._enter(name[0], opening, closing=closing)
        return "\n" if name[0] in _BLOCKS else ""

    def _enter(self, name: str, opening: int, *, closing: bool) -> None:
        if closing:
            self.unseen.close(name)
            return
        if name in _RAW and not (self.at > 1 and self.text[self.at - 2] == "/"):
            self._skip(name)
        elif name not in _VOID and (self.unseen.name or self._is_hidden(name, opening)):
            self.unseen.open(name)

    def _is_hidden(self, name: str, opening: int) -> bool:
        if name in ("html", "body"):
            return False
        end = self.at if self.at >= 0 else len(self.text)
        tag = self.text[opening : min(end, opening + _ATTRIBUTES)]
        if _HIDDEN.search(tag) or (name == "dialog" and " open" not in tag):
            return True
        style = _STYLE.search(tag) if self.styles < _MAX_STYLES else None
        if style is None:
            return False
        self.styles += 1
        return hides_text(parse_declarations(html.unescape(style[1] or style[2] or style[3] or "")))

    def _skip(self, name: str) -> None:
        """Go behind the end of an element that is not shown; its text may be the page's title."""
        start = self.at
        end = self.lowered.find(f"</{name}", start) if start >= 0 else -1
        if name == "title" and end >= 0 and not self.title:
            self.title = self.text[start:end]
        self.at = self._behind(">", end) if end >= 0 else -1

    def _behind(self, mark: str, start: int) -> int:
        found = self.text.find(mark, start)
        return found + len(mark) if found >= 0 else -1


def read(snapshot: Snapshot) -> Document:
    """The text of a page in a snapshot, with its title and nothing else; always marked as degraded."""
    source = snapshot.html[:MAX_CHARACTERS]
    if is_binary(source):
        return Document(url=snapshot.url, verdict=Verdict(VerdictKind.THIN, "binary"), degraded=True)
    lowered = source.lower()
    reading = _Pass(source, lowered if len(lowered) == len(source) else source)
    text = _BREAKS.sub("\n\n", _BLANKS.sub(" ", html.unescape(_joined(reading.pieces())))).strip()
    body, controls = sanitize.clean(text[:MAX_TEXT])
    title = " ".join(html.unescape(reading.title[:_MAX_TITLE]).split())
    return Document(
        url=snapshot.url,
        title=title or None,
        text=body,
        markdown=body,
        verdict=Verdict() if body else Verdict(VerdictKind.THIN, "empty"),
        degraded=True,
        controls_removed=controls,
    )


def _joined(pieces: Iterator[str]) -> str:
    """As much of the pieces as is kept, and some for the white space in it."""
    kept: list[str] = []
    length = 0
    for piece in pieces:
        kept.append(piece)
        length += len(piece)
        if length > 2 * MAX_TEXT:
            break
    return "".join(kept)
