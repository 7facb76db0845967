"""Mark the sender, date and text of mails that an archive writes as plain text, as public-inbox does for a thread."""

from __future__ import annotations

import re

from scraper.extract.dom.xpath import Element, text_of

_HEADER = re.compile(
    r"^From: (?P<sender>[^\n]{1,200}?) @ (?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d) UTC\b[^\n]*\n"
    r"(?:[^\n]+\n){0,30}\n",
    re.MULTILINE,
)
_FOOTER = re.compile(r"\n\^ permalink [^\n]*\s*\Z")
_MIN_MAILS = 2


def mark_mails(body: Element) -> None:
    """Replace each `pre` that is one mail of a thread by an element that declares its sender, date and text."""
    found = [(block, list(_HEADER.finditer(text_of(block)))) for block in body.iter("pre")]
    mails = [(block, headers[0]) for block, headers in found if len(headers) == 1]
    if len(mails) < _MIN_MAILS:
        return
    for block, header in mails:
        written = header.string[header.end() :]
        block.tag = "div"
        for child in list(block):
            block.remove(child)
        block.text = None
        block.set("itemscope", "")
        block.set("itemtype", "https://schema.org/DiscussionForumPosting")
        for tag, role, text in (
            ("span", "author", header["sender"]),
            ("time", "dateCreated", f"{header['day']} {header['time']}"),
            ("pre", "text", _FOOTER.sub("", written).strip("\n")),
        ):
            part = block.makeelement(tag, {"itemprop": role})
            part.text = text
            if tag == "time":
                part.set("datetime", f"{header['day']}T{header['time']}Z")
            block.append(part)
