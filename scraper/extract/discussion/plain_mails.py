"""Mark the sender, date and text of mails that an archive writes as plain text.

Archives such as public-inbox write a thread as one `pre` for each mail. Pipermail, MHonArc, hypermail and others write
one mail as a `pre` below its header, or with its header in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile

from scraper.extract.discussion.mail_text import MAIL_SIGNATURE, build_mail_text
from scraper.extract.discussion.post_dates import find_post_date
from scraper.html.dom.parsing import remove
from scraper.html.dom.tags import HEADINGS
from scraper.html.dom.xpath import Element, text_of
from scraper.text import date_parsing
from scraper.words.matcher import WordPattern

_HEADER = re.compile(
    r"^From: (?P<sender>[^\n]{1,200}?) @ (?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d) UTC\b[^\n]*\n"
    r"(?:[^\n]+\n){0,30}\n",
    re.MULTILINE,
)
_FOOTER = re.compile(r"\n\^ permalink [^\n]*\Z")
_MIN_MAILS, _MAX_BLOCKS = 2, 4
"""Minimum mails of a thread, and maximum `pre` of a page with one mail."""

_FIELDS = re.compile(
    r"\s*(?:\[[^\n]*\n\s*)?(?:[A-Z][A-Za-z-]{1,20}:[ \t][^\n]*\n(?:[ \t][^\n]+\n|\[[^\n]*\]\n)*){3,30}\n"
)
"""Header in the `pre` itself, with continued lines and lines of links."""
_FIELD = WordPattern(
    r"^\W{0,8}(?:(?P<sender>{posts.mail_from})|(?P<date>{posts.mail_date}))[ \t]*:\s*"
    r"(?P<value>[^\n]{2,200})",
    re.MULTILINE,
)
_ADDRESS = re.compile(r"[\s\"]*[<(\[][^<>\[\]]*(?:@|\bat\b|\(\))[^<>\[\]]*[>)\]].*|[\s\"]*\S+@\S+.*")
_LINKS_BELOW = re.compile(r"\n[ \t]*+\[[^\n]*\]\Z")
_MAX_ABOVE = 40
"""Elements above a mail that are searched for its header."""
_MAX_HEADER, _MAX_DATE = 3_000, 100
_MAX_FIELD = 200
_MAX_PROSE = 120
"""Characters. A page with more text in paragraphs beside the `pre` is an article with code."""
_LINE_TAGS = frozenset({"li", "tr", "p", "div", "span", "address"})
_HEADER_TAGS = frozenset({"b", "strong", "a", "i", "em", "br"})
_SIDE_TAGS = frozenset({"ul", "ol", "dl", "table", "p", "div", "map", "address"})
_MAX_UNLINKED = 0.5
"""Share of the characters of an element outside of links that lead to other mails."""


@dataclass(frozen=True, slots=True)
class _Mail:
    """A mail in a `pre`."""

    block: Element
    sender: str
    date: str
    text: str
    stated: str = ""
    """Date for programs."""
    header: tuple[Element, ...] = ()
    """Elements outside of the block that hold only the header."""


def mark_mails(body: Element) -> None:
    """Replace each `pre` that is a mail by an element that declares its sender, date and text.

    A page with one mail is an archive only if the sender and the date are directly above the text or at its beginning.
    The links to other mails around it are removed.
    """
    blocks = list(body.iter("pre"))
    found = [(block, list(_HEADER.finditer(text_of(block)))) for block in blocks]
    mails = [_read_thread_mail(block, headers[0]) for block, headers in found if len(headers) == 1]
    if len(mails) < _MIN_MAILS:
        if len(blocks) > _MAX_BLOCKS:
            return
        mail = next(filter(None, map(_read_single_mail, blocks)), None)
        if mail is None or sum(map(_count_unlinked, body.iter("p"))) > _MAX_PROSE:
            return
        mails = [mail]
        _remove_neighbors(mail)
    for mail in mails:
        _mark(mail)


def _read_thread_mail(block: Element, header: re.Match[str]) -> _Mail:
    written = header.string[header.end() :]
    return _Mail(
        block,
        header["sender"],
        f"{header['day']} {header['time']}",
        _FOOTER.sub("", written.rstrip()).strip("\n"),
        f"{header['day']}T{header['time']}Z",
    )


def _mark(mail: _Mail) -> None:
    block = mail.block
    block.tag = "div"
    for child in list(block):
        block.remove(child)
    block.text = None
    block.set("itemscope", "")
    block.set("itemtype", "https://schema.org/DiscussionForumPosting")
    sender = block.makeelement("span", {"itemprop": "author"})
    sender.text = mail.sender
    sent = block.makeelement("time", {"itemprop": "dateCreated", "datetime": mail.stated or _parse_sent(mail.date)})
    sent.text = mail.date
    block.extend((sender, sent))
    part = block.makeelement("div", {"itemprop": "text"})
    build_mail_text(part, MAIL_SIGNATURE.sub("\n", mail.text))
    block.append(part)


def _parse_sent(date: str) -> str:
    """Return a date in the format of RFC 5322 or of a Unix mailbox for programs, or an empty text."""
    moment = date_parsing.parse_date(re.sub(r"\s*\(.*", "", date))
    return moment.isoformat() if moment else ""


def _read_single_mail(block: Element) -> _Mail | None:
    if next(block.iter("code"), None) is not None:
        return None
    text = text_of(block)
    inner = _FIELDS.match(text)
    if inner is not None:
        sender, date = _read_fields(inner[0])
        written = _LINKS_BELOW.sub("", text[inner.end() :].rstrip())
        return _Mail(block, sender, date, written) if sender and date else None
    above = list(takewhile(lambda one: one.tag not in HEADINGS, islice(_iter_above(block), _MAX_ABOVE)))
    lines = "\n".join(reversed([_first_line(one) for one in above]))
    sender, date = _read_fields(lines[-_MAX_HEADER:])
    if not sender or not date:
        sender, date = _read_unlabeled(above)
    if not sender or not date:
        return None
    header = tuple(one for one in above if one.getparent() is block.getparent())
    return _Mail(block, sender, date, text, header=header)


def _iter_above(block: Element) -> Iterator[Element]:
    """Yield the elements before a block in reverse document order, without its ancestors."""
    place: Element | None = block
    while place is not None and place.tag != "body":
        for before in place.itersiblings(preceding=True):
            yield from reversed(list(before.iter()))
        place = place.getparent()


def _first_line(element: Element) -> str:
    """Return the text of an element for a search of fields: of items with a label the whole line."""
    after = "" if element.tag in _LINE_TAGS else element.tail or ""
    return " ".join(f"{text_of(element)[:_MAX_HEADER]} {after[:_MAX_HEADER]}".split())[:_MAX_FIELD]


def _count_unlinked(element: Element) -> int:
    """Return the characters of an element outside of links."""
    return len(text_of(element).strip()) - sum(len(text_of(link)) for link in element.iter("a"))


def _read_fields(text: str) -> tuple[str, str]:
    """Return sender and date from lines such as "From: Ann Lee <ann at example.org>", or empty texts."""
    sender = date = ""
    for field in _FIELD.finditer(text):
        value = " ".join(field["value"].split())
        if field["sender"] and not sender and _ADDRESS.search(value):
            sender = _ADDRESS.sub("", value).strip(' "') or value
        elif field["date"] and not date and find_post_date(value[:_MAX_DATE], is_hinted=True):
            date = value
    return sender, date


def _read_unlabeled(above: list[Element]) -> tuple[str, str]:
    """Return sender and date from a name in bold, a link to the sender's address and a date, as Pipermail has them."""
    sender = date = ""
    for element in above:
        text = " ".join(text_of(element).split())[:_MAX_FIELD]
        if not date and element.tag in ("i", "em", "span", "time") and len(text) < 60 and find_post_date(text):
            date = text
        elif date and element.tag == "a" and (element.get("href") or "").startswith("mailto:"):
            named = element.getprevious()
            if named is not None and named.tag in ("b", "strong") and not (named.tail or "").strip():
                sender = " ".join(text_of(named).split())
            break
    return sender, date


def _remove_neighbors(mail: _Mail) -> None:
    """Remove the header of a mail, and the rules and lists of links to other mails around it."""
    before, after = list(mail.block.itersiblings(preceding=True)), list(mail.block.itersiblings())
    for element in (*before, *after):
        is_header = element in mail.header and element.tag in _HEADER_TAGS
        if element.tag == "hr" or is_header or (element.tag in _SIDE_TAGS and _is_side(element)):
            remove(element)


def _is_side(element: Element) -> bool:
    """Return True if an element mainly holds links, or the fields of a mail."""
    is_linked = _count_unlinked(element) <= _MAX_UNLINKED * len(text_of(element).strip())
    return is_linked or _FIELD.search("\n".join(map(_first_line, islice(element.iter(), _MAX_ABOVE)))) is not None
