"""Render the answer of `fetch`: one page as Markdown with a short header, or as JSON."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from scraper.model import Document, Reading
from scraper.render.json_truncation import compact_json, drop_empty, truncate_json
from scraper.render.untrusted_text import MAX_DISPLAY_URL, UNTRUSTED_NOTICE, display_url, full_url, mark_untrusted
from scraper.retrieval.text_fragments import LINK_TARGET, visible_line
from scraper.text import token_estimate
from scraper.text.markdown_structure import KEEP_WHOLE, TextCut, cut_markdown, find_atomic_blocks
from scraper.text.sanitize import clean_line
from scraper.urls import MAX_URL_CHARS
from scraper.values.text import format_duration
from scraper.wishes import describe

BODY_BUDGET = 7_500
"""Tokens of page text in an answer of default size. With its header, the answer has fewer than 9,000 tokens: always by
the estimate, and on 95 of 100 pages by the token encodings that the estimate was compared with."""

_MAX_CHARACTERS = 32_000
"""Characters of page text in an answer of default size. Some clients cut by characters, the first at 36,000."""

MAX_LENGTH = 100_000

MAX_FACT = 300
_USUAL_URL = 200
"""Characters of a URL that are already part of the budget."""
_MAX_WARNING = 300
_DISCUSSION_SHARE = 0.2
"""Share of the budget for the list of posts in JSON; the page text contains the posts too."""


def as_markdown(
    reading: Reading,
    *,
    region: str,
    start: int = 0,
    length: int | None = None,
    now: datetime | None = None,
    budget: int = BODY_BUDGET,
    links: str = "inline",
    form: str = "markdown",
) -> str:
    """Return a header, the page in an untrusted region, and how to continue; without `length`, what fits the budget."""
    piece = convert_piece(piece_of(reading.document, start, length, budget), links, form)
    parts = ["\n".join([*header(reading, piece, now), untrusted_page(reading, piece, region)])]
    if piece.next_start is not None:
        parts.append(f"{cut_note(piece)} To go on, call fetch again with start={piece.end}.")
    return "\n\n".join(parts)


def as_json(
    reading: Reading,
    *,
    start: int = 0,
    length: int | None = None,
    budget: int = BODY_BUDGET,
    include: Sequence[str] = (),
    links: str = "inline",
) -> dict[str, object]:
    """Return the answer as an object with the lists that `include` names, which take at most half of the budget."""
    lists, left_out = _lists(reading.document, include, int(budget * 0.5))
    url_tokens = 2 * token_estimate.estimate(reading.url[_USUAL_URL:MAX_URL_CHARS]) + token_estimate.estimate(
        compact_json(lists)
    )
    left = max(1, budget - url_tokens)
    share = int(_DISCUSSION_SHARE * left) if reading.document.discussion else 0
    piece = convert_piece(piece_of(reading.document, start, length, left - share), links, "markdown")
    posts = truncate_json(_posts_in(reading.document, piece), share).blocks
    warnings = [*_reading_warnings(reading), *left_out] if left_out else []
    return page_object(reading, piece) | lists | drop_empty({"discussion": list(posts), "warnings": warnings})


def _posts_in(document: Document, piece: TextCut) -> list[dict[str, object]]:
    numbers = {}
    for heading in document.outline:
        number = heading.text[1:].partition(" ·")[0]
        if heading.text.startswith("#") and number.isdecimal():
            numbers[int(number)] = heading.start
    posts, start = [], -1
    for post in document.discussion:
        start = numbers.get(post.position, start)
        if piece.start <= start < piece.end:
            posts.append(post.as_object())
    return posts


def _lists(document: Document, include: Sequence[str], budget: int) -> tuple[dict[str, object], list[str]]:
    """Return the requested lists, each within its share of the token budget, and notes about dropped items."""
    lists: dict[str, object] = {}
    notes = []
    for name in include:
        rows, fitting, left = LISTS[name](document), [], budget // len(include)
        for row in rows:
            cost = token_estimate.estimate(compact_json(row)) + 1
            if cost <= left:
                fitting.append(row)
                left -= cost
        lists[name] = fitting
        if len(fitting) < len(rows):
            notes.append(f"{name}: {len(rows) - len(fitting):,} more are left out.")
    return lists, notes


LISTS: Mapping[str, Callable[[Document], list[dict[str, object]]]] = {
    "headings": lambda document: [
        {"level": one.level, "text": clean_line(one.text, MAX_FACT), "start": one.start} for one in document.outline
    ],
    "links": lambda document: [
        {"url": clean_line(one.url, MAX_URL_CHARS), "text": clean_line(one.text, MAX_FACT)} for one in document.links
    ],
    "images": lambda document: [
        {"url": clean_line(one.url, MAX_URL_CHARS), "alt": clean_line(one.alt, MAX_FACT)} for one in document.images
    ],
}
"""Lists that a call may request for JSON answers."""


def page_object(reading: Reading, piece: TextCut) -> dict[str, object]:
    """Return a piece of a page and its metadata as an object."""
    document = reading.document
    facts = {name: clean_fact(value) if isinstance(value, str) else value for name, value in document.facts}
    # Marks of a code block or table that the cut divided; with them, the piece is valid Markdown alone.
    marks = {"before": piece.before, "after": piece.after}
    return {
        "url": clean_line(reading.url, MAX_URL_CHARS),
        "title": clean_fact(document.title),
        "content": piece.text,
        "method": reading.method,
        "truncated": piece.next_start is not None or reading.truncated,
        "tokens_estimated": token_estimate.estimate(piece.text),
        "author": clean_fact(document.author),
        "published_date": iso_date(document.published) or None,
        "sitename": clean_fact(document.site_name),
        "final_url": clean_line(reading.url, MAX_URL_CHARS),
        "status": reading.status,
        "language": document.language,
        "description": clean_fact(document.description),
        "page_type": document.page_type,
        "start": piece.start,
        "returned_chars": len(piece.text),
        "total_chars": piece.total,
        **drop_empty({"wishes": [asdict(wish) for wish in document.wishes]}),
        **drop_empty({"facts": facts, "next_start": piece.next_start, **marks}),
        "cached": reading.cached,
        "retrieved_at": reading.retrieved_at.isoformat(timespec="seconds"),
        **drop_empty({"warnings": _reading_warnings(reading)}),
        "notice": UNTRUSTED_NOTICE,
    }


def _reading_warnings(reading: Reading) -> list[str]:
    return [clean_line(warning, _MAX_WARNING) for warning in reading.warnings]


def piece_of(document: Document, start: int, length: int | None, budget: int = BODY_BUDGET) -> TextCut:
    """Return the requested piece; without a length, as much as fits the token budget."""
    if length is not None:
        return cut_markdown(document.markdown, start, min(length, MAX_LENGTH), keep_whole=KEEP_WHOLE)
    return cut_to_budget(document.markdown, start, budget)


def cut_to_budget(markdown: str, start: int, budget: int) -> TextCut:
    """Return the piece from `start` that fits a token budget and the character limit derived from it."""
    start = max(0, min(start, len(markdown)))
    affordable = token_estimate.fit_prefix(markdown, start, budget)
    return cut_markdown(markdown, start, min(affordable, characters_for(budget)), keep_whole=0)


def cut_note(piece: TextCut) -> str:
    """Return a sentence with the number of remaining characters."""
    return f"Cut here: {piece.total - piece.end:,} characters are left."


def characters_for(budget: int) -> int:
    """Return the character limit for a token budget."""
    return max(_MAX_CHARACTERS, _MAX_CHARACTERS * budget // BODY_BUDGET)


def header(
    reading: Reading,
    piece: TextCut,
    now: datetime | None,
    *,
    url_chars: int = MAX_DISPLAY_URL,
    fact_chars: int = MAX_FACT,
    title: str | None = None,
) -> list[str]:
    """Return the header: URL, method and tokens in one line, and a line for each other fact that applies.

    With the `title` of a section, which has the requested URL, that line has the URL only if the site redirected. The
    final URL is the only text in the header that the site can choose.
    """
    facts = f"Method: {reading.method} Tokens: {token_estimate.estimate(piece.shown):,}"
    if reading.cached:
        facts += f" Cached: {read_ago(reading.retrieved_at, now)}"
    url = display_url(reading.url, requested=reading.requested_url, chars=url_chars)
    is_redirected = reading.requested_url.partition("#")[0] != reading.url.partition("#")[0]
    lines = [f"{title}\n{facts}" if title is not None else f"URL: {url} {facts}"]
    if is_redirected and title is not None:
        lines.append(f"URL: {url}")
    elif is_redirected:
        lines.append(f"Requested: {display_url(reading.requested_url, chars=url_chars)}")
    if piece.start or piece.next_start is not None:
        more = f"; next: start={piece.end}" if piece.next_start is not None else ""
        lines.append(f"Characters: chars {piece.start}-{piece.end} of {piece.total}{more}")
    document = reading.document
    counts = ((document.hidden_removed, "hidden element"), (document.controls_removed, "invisible character"))
    if removed := ", ".join(f"{count:,} {noun}{'s' if count > 1 else ''}" for count, noun in counts if count):
        lines.append(f"Left out: {removed}")
    if wished := describe(document.wishes):
        lines.append(f"Wishes of the site: {wished}")
    if document.is_site_markdown:
        lines.append(
            f"Text: the site's Markdown ({display_url(document.site_markdown, requested='', chars=url_chars)})"
        )
    if reading.truncated:
        lines.append("Truncated: the site sent more, or more slowly, than the limits allow.")
    lines += [f"Warning: {clean_line(warning, min(fact_chars, _MAX_WARNING))}" for warning in reading.warnings]
    return lines


def untrusted_page(
    reading: Reading,
    piece: TextCut,
    region: str,
    *,
    url_chars: int = MAX_DISPLAY_URL,
    full_url_chars: int = 2_000,
    fact_chars: int = MAX_FACT,
) -> str:
    """Return metadata and text of a page in an untrusted region, with the full URL if the header has a part of it."""
    document = reading.document
    address = display_url(reading.url, requested=reading.requested_url, chars=url_chars)
    body = piece.shown or ("(the end of the text)" if piece.start else "(no text)")
    title = clean_fact(document.title, fact_chars)
    stated = {name: clean_fact(f"{value}", fact_chars) or "" for name, value in document.facts}
    rating, count = stated.get("rating", ""), stated.get("rating_count")
    facts = {
        "Full URL": full_url(reading.url, address, full_url_chars),
        "Title": None if title == body.partition("\n")[0].strip("# ") else title,
        "Author": clean_fact(document.author, fact_chars),
        "Published": document.published.date().isoformat() if document.published else None,
        "Site": clean_fact(document.site_name, fact_chars),
        "Price": " ".join(filter(None, (stated.get("price"), stated.get("currency")))),
        "Availability": stated.get("availability"),
        "Rating": f"{rating} ({count} ratings)" if rating and count else rating,
        "Yields": stated.get("yields"),
        "Tools": clean_fact(f"form {', '.join(document.tools)} (browse can call it)") if document.tools else None,
        "Time": ", ".join(f"{stated[name]} minutes {label}" for name, label in _MINUTES.items() if name in stated),
    }
    fact_lines = "\n".join(f"{name}: {fact}" for name, fact in facts.items() if fact)
    return mark_untrusted(f"{fact_lines}\n\n{body}" if fact_lines else body, region)


_MINUTES = {"total_time": "total", "prep_time": "preparation", "cook_time": "cooking"}


def iso_date(moment: datetime | None) -> str:
    """Return a date in ISO 8601, with the time if it is known; an empty string for None."""
    if moment is None:
        return ""
    is_date_only = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if is_date_only else moment.isoformat(timespec="seconds")


def clean_fact(text: str | None, chars: int = MAX_FACT) -> str | None:
    """Return a text on one line of at most `chars` characters, or None if it is empty."""
    return clean_line(text, chars) or None if text else None


def read_ago(retrieved_at: datetime, now: datetime | None) -> str:
    """Return the age of a cached text, or the time when it was read if `now` is None."""
    if now is None:
        return f"at {retrieved_at.isoformat(timespec='seconds')}"
    return f"{format_duration(max(0.0, (now - retrieved_at).total_seconds()))} ago"


LINK_STYLES = ("inline", "numbered", "no")
"""Links with their URLs, with numbers and the URLs at the end, or only their texts."""
FORMATS = ("markdown", "json", "text", "html")

_LINK = re.compile(
    rf"(\\.|`[^`\n]*`)|<(https?://[^\s<>]+)>|(!?)\[((?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\])*+)\]({LINK_TARGET})"
)
"""A bare URL, link or picture. Escaped characters and code match too, so that nothing begins within them."""
_NO_TEXT = re.compile(r"\|?(?:\s*:?-{3,}:?\s*\|)+|\*{3}|<!-- page \d+ -->")
"""Lines of marks alone: rules, also below a table head, and the number of a page."""


def convert_piece(piece: TextCut, links: str, form: str) -> TextCut:
    """Return a piece of Markdown with links of another style, or as plain text or HTML; its offsets stay."""
    if form == "text":
        return replace(piece, text=_plain_text(convert_links(piece.shown, "no")), before="", after="")
    styled = piece if links == "inline" else replace(piece, text=convert_links(piece.text, links))
    if form == "html":
        # Imported late: few calls need it.
        from markdown_it import MarkdownIt

        html = MarkdownIt("js-default").render(_convert_prose(styled.shown, _list_definitions)).strip()
        return replace(styled, text="\n".join(map(_restore_page_number, html.split("\n"))), before="", after="")
    return styled


def convert_links(markdown: str, style: str) -> str:
    """Return a Markdown text without the URLs of links and pictures, or with them as numbered references at its end."""
    numbers: dict[str, int] = {}

    def convert(match: re.Match[str]) -> str:
        kept, address, mark, text, target = match.groups()
        if kept:
            return kept
        if address:
            return address if style == "no" else match.group()
        if style == "no" or not text:
            return text
        url = target[1:-1].partition(" ")[0]
        return f"{mark}[{text}][{numbers.setdefault(url, len(numbers) + 1)}]"

    text = _convert_prose(markdown, lambda part: _LINK.sub(convert, part))
    references = "\n".join(f"[{number}]: {url}" for url, number in numbers.items())
    return f"{text.rstrip()}\n\n{references}" if references else text


def _convert_prose(markdown: str, convert: Callable[[str], str]) -> str:
    """Return a Markdown text with all but its blocks of code and formulas converted."""
    parts, end = [], 0
    for block in find_atomic_blocks(markdown, len(markdown)):
        parts += [convert(markdown[end : block.start]), markdown[block.start : block.end]]
        end = block.end
    return "".join([*parts, convert(markdown[end:])])


def _list_definitions(markdown: str) -> str:
    """Return prose with definitions as items of lists, which CommonMark has; the marks have the same width."""
    lines = markdown.split("\n")
    return "\n".join(line.replace(":", "-", 1) if line.lstrip().startswith(":   ") else line for line in lines)


def _restore_page_number(line: str) -> str:
    """Return a line of HTML; an escaped comment with the number of a page becomes a comment again."""
    number = line.removeprefix("<p>&lt;!-- page ").removesuffix(" --&gt;</p>")
    return f"<!-- page {number} -->" if number.isdecimal() and number != line else line


def _plain_text(markdown: str) -> str:
    """Return a text without the marks of Markdown; code stays as it is."""
    lines = _convert_prose(markdown, _plain_lines).splitlines()
    lines = [line for line in lines if not line.lstrip().startswith(("```", "~~~", "$$"))]
    return "\n".join(line for at, line in enumerate(lines) if line or (at and lines[at - 1]))


def _plain_lines(markdown: str) -> str:
    lines = (line.strip().removeprefix(":   ") for line in markdown.splitlines())
    plain = (visible_line(line).removesuffix("|").rstrip() for line in lines if not _NO_TEXT.fullmatch(line))
    return "".join(f"{line}\n" for line in plain)
