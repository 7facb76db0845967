"""Clean the names of authors: remove the words around them, and reject texts that are no names."""

from __future__ import annotations

import re

from scraper.extract.discussion.post_dates import find_post_date
from scraper.extract.text.sanitize import clean_line

MAX_NAME = 60
"""Characters of a name."""
_MAX_LINE = 240
"""Characters of a text that is searched for a name."""
_BEFORE_NAME = re.compile(
    r"^(?:(?:re)?posted|written|submitted|asked|answered|reviewed|commented|started|created|sent)?\s*"
    r"(?:by|from|von|par|por|di|door|av|af|przez|автор|作者|投稿者|author|user|reviewer|autor|auteur)\s*[:：]?\s+|^@",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"\s*(?:,|:|\bsays?\b|\bsaid\b|\bwrote\b|\bwrites\b|\bcommented\b|\breplied\b|\basked\b|\banswered\b|"
    r"\bsagt\b|\bschrieb\b|"
    r"\ba dit\b|\bdice\b|\bdijo\b|»|•|·|(?<!\w)\(?(?:OP|author|verified \w+)\)?$)\s*:?\s*$|\s+(?:says|said|wrote|"
    r"says on):?\s.*$",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"^(?:\W*|reply|quote|share|report|edit|delete|like|permalink|link|parent|message|messages|posts?|profile|user|"
    r"member|guest post|follow|view profile|more|top|author|send message|contact|website|log ?in|sign ?up|register|"
    r"name|new|re|advert\w*|sponsored.*|#\d\S*|op|mod|moderator|comment|comments|next|prev|previous|home|"
    r"members?|https?:.*|\d{4}-\d\d-\d\d.*)$",
    re.IGNORECASE,
)


def clean_name(text: str) -> str:
    """Return a name without the words around it, or an empty text if it is no name."""
    line = clean_line(text, _MAX_LINE)
    line = _AFTER_NAME.sub("", _BEFORE_NAME.sub("", line)).strip(" ,;:|·•-–—")
    if line and (date := find_post_date(line)):
        line = line.replace(date[0], "").strip(" ,;:|·•-–—()@")
    if not line or len(line) > MAX_NAME or _NO_NAME.match(line) or len(line.split()) > 8:
        return ""
    return line
