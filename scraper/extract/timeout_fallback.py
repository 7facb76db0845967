"""Extract the text of a page in one linear pass, for pages that take too long to parse.

There is no parser, no recursion, and nothing that grows faster than the page. Elements that tags alone identify as
hidden are removed; all other text stays, including navigation.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from browsers.model import Snapshot
from scraper.html.dom.parsing import BLOCKS, VOID, is_binary
from scraper.html.page.css_visibility import hides_text, parse_declarations
from scraper.model import Document, Verdict, VerdictKind
from scraper.text import sanitize

MAX_CHARACTERS = 8_000_000
"""Characters of HTML; two seconds of work. The rest is cut off."""

MAX_TEXT = 1_000_000
"""Characters of the returned text. The rest is cut off."""

_MAX_TITLE = 300
_MAX_TAG_CHARACTERS = 2_000
"""Characters of a tag that are examined. Attributes that hide an element are among the first."""

_SKIPPED_TAGS = frozenset("script style template title textarea svg canvas object iframe noscript".split())

_BLOCKS = BLOCKS | set(
    "address aside br details fieldset figcaption figure footer form header hr main nav option pre summary".split()
)
_HIDDEN = re.compile(r"\s(?:data-x-hidden|hidden|popover)(?=[\s>=/]|$)", re.IGNORECASE)
_STYLE = re.compile(r"\sstyle\s*=\s*(?:\"([^\"]*)|'([^']*)|([^\s>]+))", re.IGNORECASE)
_MAX_STYLES = 20_000
"""Styles that are parsed, at some 20 us each; a page with more is hostile or a spreadsheet."""

_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,40}")
_BREAKS = re.compile(r"[ \t\r\f\v]*\n[\s]*")
_BLANKS = re.compile(r"[ \t\r\f\v]+")


@dataclass(slots=True)
class _Scanner:
    text: str
    lowered: str
    at: int = 0
    title: str = ""
    styles: int = 0
    hidden: str = ""
    """Tag of the hidden element that contains the current position."""
    depth: int = 0
    """Number of open tags with the name of the hidden element, including itself."""

    def scan(self) -> Iterator[str]:
        """Yield the visible text between the tags, and a line break for each tag of a block."""
        while self.at >= 0:
            opening = self.text.find("<", self.at)
            if not self.hidden:
                yield self.text[self.at :] if opening < 0 else self.text[self.at : opening]
            if opening < 0:
                return
            yield self._tag(opening)

    def _tag(self, opening: int) -> str:
        """Skip the tag at this position; return the text that it adds."""
        if self.text.startswith("<!--", opening):
            self.at = self._find_end("-->", opening)
            return ""
        closing = self.text.startswith("</", opening)
        name = _NAME.match(self.lowered, opening + 1 + closing)
        if name is None:
            declares = self.text.startswith(("<!", "<?", "</"), opening)
            self.at = self._find_end(">", opening) if declares else opening + 1
            return "" if declares or self.hidden else "<"
        self.at = self._find_end(">", opening)
        self._enter(name[0], opening, closing=closing)
        return "\n" if name[0] in _BLOCKS else ""

    def _enter(self, name: str, opening: int, *, closing: bool) -> None:
        if closing:
            self.depth -= name == self.hidden
            if self.depth <= 0:
                self.hidden, self.depth = "", 0
        elif name in _SKIPPED_TAGS and not (self.at > 1 and self.text[self.at - 2] == "/"):
            # Its text is not displayed, but may be the title of the page.
            start = self.at
            end = self.lowered.find(f"</{name}", start) if start >= 0 else -1
            if name == "title" and end >= 0 and not self.title:
                self.title = self.text[start:end]
            self.at = self._find_end(">", end) if end >= 0 else -1
        elif name not in VOID and (self.hidden or self._is_hidden(name, opening)):
            self.hidden = self.hidden or name
            self.depth += name == self.hidden

    def _is_hidden(self, name: str, opening: int) -> bool:
        if name in ("html", "body"):
            return False
        end = self.at if self.at >= 0 else len(self.text)
        tag = self.text[opening : min(end, opening + _MAX_TAG_CHARACTERS)]
        if _HIDDEN.search(tag) or (name == "dialog" and " open" not in tag):
            return True
        style = _STYLE.search(tag) if self.styles < _MAX_STYLES else None
        if style is None:
            return False
        self.styles += 1
        return hides_text(parse_declarations(html.unescape(style[1] or style[2] or style[3] or "")))

    def _find_end(self, mark: str, start: int) -> int:
        found = self.text.find(mark, start)
        return found + len(mark) if found >= 0 else -1


def read(snapshot: Snapshot) -> Document:
    """Return the text and the title of a page; the document is always marked as degraded."""
    source = snapshot.html[:MAX_CHARACTERS]
    if is_binary(source):
        return Document(url=snapshot.url, verdict=Verdict(VerdictKind.THIN, "binary"), degraded=True)
    lowered = source.lower()
    reading = _Scanner(source, lowered if len(lowered) == len(source) else source)
    pieces: list[str] = []
    left = 2 * MAX_TEXT  # with a reserve for white space
    for piece in reading.scan():
        pieces.append(piece)
        left -= len(piece)
        if left < 0:
            break
    text = _BREAKS.sub("\n\n", _BLANKS.sub(" ", html.unescape("".join(pieces)))).strip()
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
