"""The answer of `fetch`: one page, as Markdown with a small header or as JSON."""

from __future__ import annotations

from datetime import datetime, timedelta

from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import Document, Reading
from scraper.render.paging import KEEP_WHOLE, TextCut, cut
from scraper.render.untrusted_region import EXPLANATION, NOTICE, seal
from scraper.urls import MAX_URL_CHARS

BODY_BUDGET = 7_500
"""Tokens of page text in an answer of which nothing else was asked. With its header it stays under 9,000
by the estimate always, by the encodings it was measured against on 95 of 100 pages."""

MAX_CHARACTERS = 32_000
"""Characters of page text in such an answer: some clients cut by characters, the first at 36,000."""

MAX_LENGTH = 100_000
"""Characters in an answer at the caller's own wish."""

MAX_FACT = 300
MAX_URL = 500
"""Of an address in the header: some have thousands of characters. JSON has all that can be asked for."""
_USUAL_URL = 200
"""Characters of an address for which the budget of an answer leaves room."""
_MAX_WARNING = 300


def as_markdown(
    reading: Reading,
    *,
    region: str,
    start: int = 0,
    length: int | None = None,
    now: datetime | None = None,
    budget: int = BODY_BUDGET,
) -> str:
    """Header, the page in its region, and how to go on. `region`: a random id made for this answer alone.

    Raises:
        BadArgument: a negative length.
    """
    piece = piece_of(reading.document, start, length, budget)
    lines = [*header(reading, piece, now), EXPLANATION.format(region=region)]
    parts = ["\n".join(lines), sealed_page(reading.document, piece, region)]
    if piece.next_start is not None:
        left = piece.total - piece.end
        parts.append(
            f"Cut here: {left:,} characters are left. To go on, call fetch again with start={piece.end}."
        )
    return "\n\n".join(parts)


def as_json(
    reading: Reading, *, start: int = 0, length: int | None = None, budget: int = BODY_BUDGET
) -> dict[str, object]:
    """The answer as an object; `next_start` only when there is more.

    Raises:
        BadArgument: a negative length.
    """
    excess = token_estimate.estimate(reading.url[_USUAL_URL:MAX_URL_CHARS])
    return page_object(reading, piece_of(reading.document, start, length, max(1, budget - excess)))


def page_object(reading: Reading, piece: TextCut) -> dict[str, object]:
    """A piece of a page with what is known of the page."""
    document = reading.document
    content = piece.shown
    answer: dict[str, object] = {
        "url": clean_line(reading.url, MAX_URL_CHARS),
        "title": _fact(document.title),
        "content": content,
        "method": reading.method,
        "truncated": piece.next_start is not None or reading.truncated,
        "tokens_estimated": token_estimate.estimate(content),
        "author": _fact(document.author),
        "published_date": published(document),
        "sitename": _fact(document.site_name),
        "start": piece.start,
        "returned_chars": len(piece.text),
        "total_chars": piece.total,
    }
    if piece.next_start is not None:
        answer["next_start"] = piece.next_start
    answer["cached"] = reading.cached
    answer["retrieved_at"] = reading.retrieved_at.isoformat(timespec="seconds")
    if reading.warnings:
        answer["warnings"] = [clean_line(warning, _MAX_WARNING) for warning in reading.warnings]
    answer["notice"] = NOTICE
    return answer


def piece_of(document: Document, start: int, length: int | None, budget: int = BODY_BUDGET) -> TextCut:
    """The piece that is asked for; without a length as much as the budget of tokens allows."""
    if length is not None:
        return cut(document.markdown, start, min(length, MAX_LENGTH), keep_whole=KEEP_WHOLE)
    start = max(0, min(start, len(document.markdown)))
    affordable = token_estimate.fit_prefix(document.markdown, start, budget)
    return cut(document.markdown, start, min(affordable, characters_for(budget)), keep_whole=0)


def characters_for(budget: int) -> int:
    """The bound in characters that goes with a budget; an operator who raises one means both."""
    return max(MAX_CHARACTERS, MAX_CHARACTERS * budget // BODY_BUDGET)


def header(
    reading: Reading,
    piece: TextCut,
    now: datetime | None,
    *,
    url_chars: int = MAX_URL,
    fact_chars: int = MAX_FACT,
) -> list[str]:
    """What we know ourselves; nothing here is the site's own words but the address it redirected to."""
    lines = [f"URL: {clean_line(reading.url, url_chars)}"]
    if reading.requested_url.partition("#")[0] != reading.url.partition("#")[0]:
        lines.append(f"Requested: {clean_line(reading.requested_url, url_chars)}")
    lines.append(f"Method: {reading.method}")
    lines.append(f"Tokens: about {token_estimate.estimate(piece.shown):,}")
    if piece.start or piece.next_start is not None:
        more = f"; next: start={piece.end}" if piece.next_start is not None else ""
        lines.append(f"Characters: chars {piece.start}-{piece.end} of {piece.total}{more}")
    if reading.cached:
        lines.append(f"Cached: {read_ago(reading.retrieved_at, now)}")
    hidden = _left_out(reading.document)
    if hidden:
        lines.append(f"Left out: {hidden}")
    if reading.truncated:
        lines.append("Truncated: the site sent more, or more slowly, than the limits allow.")
    lines += [
        f"Warning: {clean_line(warning, min(fact_chars, _MAX_WARNING))}" for warning in reading.warnings
    ]
    return lines


def sealed_page(document: Document, piece: TextCut, region: str, *, fact_chars: int = MAX_FACT) -> str:
    """The page's facts and text, all of it the site's own words, in the region."""
    facts = {
        "Title": _fact(document.title, fact_chars),
        "Author": _fact(document.author, fact_chars),
        "Published": published(document),
        "Site": _fact(document.site_name, fact_chars),
    }
    told = "\n".join(f"{name}: {fact}" for name, fact in facts.items() if fact)
    body = piece.shown or ("(the end of the page)" if piece.start else "(no text)")
    return seal(f"{told}\n\n{body}" if told else body, region)


def published(document: Document) -> str | None:
    """The date in ISO 8601; the time only where it is known."""
    moment = document.published
    if moment is None:
        return None
    bare = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if bare else moment.isoformat(timespec="seconds")


def _fact(text: str | None, chars: int = MAX_FACT) -> str | None:
    return clean_line(text, chars) or None if text else None


def _left_out(document: Document) -> str:
    counts = (
        (document.hidden_removed, "hidden element"),
        (document.controls_removed, "invisible character"),
    )
    return ", ".join(f"{count:,} {noun}{'s' if count > 1 else ''}" for count, noun in counts if count)


def read_ago(retrieved_at: datetime, now: datetime | None) -> str:
    """When a cached text was read, and how long ago that is."""
    moment = retrieved_at.isoformat(timespec="seconds")
    return f"read {_words(now - retrieved_at)} ago ({moment})" if now else f"read at {moment}"


def _words(age: timedelta) -> str:
    seconds = max(0, int(age.total_seconds()))
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {noun}{'s' if count > 1 else ''}"
    return "0 seconds"
