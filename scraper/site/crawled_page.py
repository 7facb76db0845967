"""Summarize a visited page for the crawl: links, word counts and a sketch of its text; and store facts of its site."""

import json
import re
import statistics
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

from scraper.extract.outlinks import Outlink, Outlinks
from scraper.extract.sitemaps import SitemapEntry
from scraper.model import Document
from scraper.site.model import ExcludedUrls
from scraper.text.likeness import Sketch
from scraper.text.terms import DIGITS, split_terms, split_words, stem
from scraper.urls import join_url

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0eff]")
"""Letters of scripts without spaces: two of them count as one word."""
_SAME_PAGE = 0.7
"""Share of common word pairs. More of them mean that a page is the site's page for missing URLs."""
_MIN_PAIRS = 8
"""Word pairs beside links that are enough to compare a page with the page for missing URLs."""
_MAX_LINK_TEXTS = 500
_MARKER = re.compile(r"^(?:[-*+•]|\d+[.)])\s+")
"""Mark of a list item at the begin of a line."""
_SATURATION = 4
"""Occurrences of a word; more of them do not increase the relevance."""
_THIN_WORDS, _FULL_WORDS = 10, 30
"""Words. Pages with fewer than the first have hardly any text; pages from the second on have full value."""
_THIN_WORTH = 0.4
"""Value of a short page, which may be an example, a picture or a short entry."""
_LIST_SHARE = 0.5
"""Share of words in links; pages with more are lists."""
_THIN_LIST_SHARE = 0.25
"""The same for short pages: a linked name with a price is a list too."""
_LINK_TARGET = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*(?: \"[^\"]*\")?\)")
_LIST_TYPES = ("listing", "collection")
"""Page types of the reader that may be lists of teasers."""
_TITLE_LINE = re.compile(
    r"(?:[-*+] |\d+[.)] )?(?:#{1,6} )?(?:\*\*|__)?\[[^\]]+\]\(((?:[^()\s]|\([^()\s]*\))+)(?: \"[^\"]*\")?\)(?:\*\*|__)?"
)
"""A line that is only a link, such as the title of a teaser."""
_MIN_TEASERS, _TEASER_WORDS = 3, 5
"""Titles with a text of at least so many words."""
_MAX_TEASER_WORDS = 120
"""Median words of the texts below the titles; longer ones are posts of a discussion or whole articles."""
_MAX_INTRODUCTION = 0.25
"""Largest share of words before the first title."""
_LOGIN_WORDS = 120
"""Words. A page with a password field and fewer words is a sign-in page."""
MAX_LINKS = 5_000
_MAX_HIDDEN = 200
_MAX_URL = 2_000


@dataclass(frozen=True, slots=True)
class Soft404Page:
    """Page that a site returns with status 200 for a URL that does not exist."""

    url: str
    text: str

    link_texts: tuple[str, ...] = ()

    def is_like(self, text: str, url: str, links: Iterable[str]) -> bool:
        """Return True if a text is similar to this page, ignoring the words of both URLs.

        Its links may be suggestions that change with each visit. So lines that are only a link, whose texts are in
        `links`, are ignored if enough other text is left.
        """
        echo = " ".join(split_words(f"{unquote(url)} {unquote(self.url)}", ignore_numbers=True))
        own, other = ((text, links), (self.text, self.link_texts))
        rest = [_word_pairs(_remove_lines(*one), echo) for one in (own, other)]
        pairs, others = (
            rest if min(map(len, rest)) >= _MIN_PAIRS else (_word_pairs(one[0], echo) for one in (own, other))
        )
        return len(pairs & others) >= _SAME_PAGE * len(pairs | others)


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """Summary of one visited page."""

    url: str
    """Requested URL."""
    final_url: str
    """URL after redirects."""
    status: int = 200
    """HTTP status; 0 if there was no response."""
    problem: str = ""
    """Reason why the page was not read, in one sentence; empty if it was read."""
    title: str = ""
    language: str = ""
    word_count: int = 0
    link_share: float = 0.0
    """Share of the words that are in links, from 0 to 1."""
    has_teasers: bool = False
    """True if it is a list of excerpts of other pages of the site."""
    relevance: float = 0.0
    """Match with the question, from 0 to 1."""
    is_missing: bool = False
    """True if the page resembles the site's page for missing URLs."""
    sketch: Sketch = field(default_factory=Sketch)
    digest: int = 0
    """Hash of the words of the text."""
    template: int = 0
    """Hash of the words of the text with the numbers of its URL replaced by one: pages of an endless calendar differ
    only in these."""
    outlinks: Outlinks = field(default_factory=Outlinks)
    cut_links: int = 0
    """Links that are not in `outlinks`, because the page has too many or their URLs are too long."""
    indexed_as: str = ""
    """Id of its document in the index of the site, if another crawl stored its text under another URL; else empty."""

    @property
    def is_full(self) -> bool:
        """True if it has enough words to be a page of its own."""
        return self.word_count >= _FULL_WORDS

    @property
    def is_list(self) -> bool:
        """True if it is a list of links or of excerpts of other pages."""
        return self.has_teasers or self.link_share > (_LIST_SHARE if self.is_full else _THIN_LIST_SHARE)

    @property
    def fault(self) -> str:
        """Reason why it has no content, or an empty string."""
        if self.status == 404 or self.is_missing:
            return "missing page"
        if self.problem or self.status != 200:
            return "failed page"
        return "sign-in page" if self.outlinks.has_password and self.word_count < _LOGIN_WORDS else ""

    @property
    def text_value(self) -> float:
        """Value of its text, from 0 to 1; lists of links have none."""
        if self.is_list or self.word_count < _THIN_WORDS:
            return 0.0
        return 1.0 if self.is_full else _THIN_WORTH


def link_texts(document: Document) -> tuple[str, ...]:
    """Return the texts of the links of a page, with single spaces."""
    return tuple(" ".join(link.text.split()) for link in document.links[:_MAX_LINK_TEXTS])


def _remove_lines(text: str, links: Iterable[str]) -> str:
    texts = set(links)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if _MARKER.sub("", line) not in texts)


def _word_pairs(text: str, echo: str) -> set[tuple[str, str]]:
    words = [word for word in split_words(text, ignore_numbers=True) if word not in echo]
    return set(pairwise(words))


def describe_page(
    url: str,
    final_url: str,
    document: Document,
    outlinks: Outlinks,
    *,
    question: Sequence[str] = (),
    missing_page: Soft404Page | None = None,
) -> CrawledPage:
    """Return the summary of a page that was read, with its match with the stems of a question.

    `missing_page` is the page of the site for missing URLs; None if it has no such page with status 200.
    """
    links = tuple(link for link in outlinks.links[:MAX_LINKS] if len(link.url) <= _MAX_URL)
    cut = replace(outlinks, links=links, hidden=outlinks.hidden[:_MAX_HIDDEN])
    words = split_words(document.text)
    own = set(_numbers(final_url))
    # Words of letters, which are most of them, have no number.
    plain = [word if word.isalpha() or not own.issuperset(_numbers(word) or ("-",)) else "0" for word in words]
    linked = sum(len(split_words(link.text)) for link in document.links)
    return CrawledPage(
        url,
        final_url,
        title=document.title or outlinks.title,
        language=(document.language or "").partition("-")[0].lower(),
        word_count=len(words) + len(_WIDE.findall(document.text)) // 2,
        link_share=round(min(1.0, linked / max(1, len(words))), 3),
        has_teasers=document.page_type in _LIST_TYPES and has_teasers(document.markdown, final_url),
        relevance=_rate_relevance(document, question),
        is_missing=missing_page is not None and missing_page.is_like(document.text, final_url, link_texts(document)),
        sketch=Sketch.of(words),
        digest=_hash(words),
        template=_hash(plain),
        outlinks=cut,
        cut_links=len(outlinks.links) - len(cut.links) + len(outlinks.hidden) - len(cut.hidden),
    )


def _numbers(text: str) -> list[str]:
    """Return the numbers in a text, without zeros before them."""
    return [number.lstrip("0") for number in DIGITS.findall(text)]


def _hash(words: Sequence[str]) -> int:
    return zlib.crc32(" ".join(words).encode())


def has_teasers(markdown: str, url: str) -> bool:
    """Return True if a page consists of titles that link to other pages of its site, each above a short text."""
    host = urlsplit(url).netloc
    introduction, targets = 0, set()
    sections: list[int] = []
    for line in markdown.split("\n"):
        title = _TITLE_LINE.fullmatch(line.strip().lstrip("> "))
        target = join_url(url, title[1]).partition("#")[0] if title else ""
        if target != url.partition("#")[0] and urlsplit(target).netloc == host:
            targets.add(target)
            sections.append(0)
        elif sections:
            sections[-1] += len(split_words(_LINK_TARGET.sub("]", line)))
        else:
            introduction += len(split_words(_LINK_TARGET.sub("]", line)))
    texts = [size for size in sections if size >= _TEASER_WORDS]
    is_list = min(len(texts), len(targets)) >= _MIN_TEASERS
    is_short = introduction <= _MAX_INTRODUCTION * (introduction + sum(sections))
    return is_list and is_short and statistics.median(texts) <= _MAX_TEASER_WORDS


def _rate_relevance(document: Document, question: Sequence[str]) -> float:
    """Return the mean of the stems of a question, from 0 to 1: .7 for four in the text, .3 more in the title."""
    if not question:
        return 0.0
    counts = Counter(map(stem, split_terms(document.text)))
    title = set(map(stem, split_terms(document.title or "")))
    rates = (0.7 * min(1.0, counts[term] / _SATURATION) + 0.3 * (term in title) for term in question)
    return round(sum(rates) / len(question), 3)


def dump_page(page: CrawledPage) -> bytes:
    """Serialize a page as compressed JSON."""
    head = page.outlinks
    row = {one.name: getattr(page, one.name) for one in fields(page) if one.name != "outlinks"} | {
        "sketch": [page.sketch.run_count, *page.sketch.numbers],
        "links": [[link.url, link.text, link.place, int(link.nofollow), link.language] for link in head.links],
        **{name: getattr(head, name) for name in ("feeds", "hidden", "alternates", "refresh")},
        "flags": [head.noindex, head.nofollow, head.has_password],
    }
    return zlib.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"), 1)


def load_page(data: bytes) -> CrawledPage:
    """Deserialize a page from the result of `dump_page`."""
    row: dict[str, Any] = json.loads(zlib.decompress(data))
    noindex, nofollow, has_password = row.pop("flags")
    outlinks = Outlinks(
        tuple(Outlink(*link) for link in row.pop("links")),
        tuple(row.pop("feeds")),
        row["title"],
        tuple(row.pop("hidden")),
        alternates=tuple((language, url) for language, url in row.pop("alternates")),
        refresh=row.pop("refresh"),
        noindex=noindex,
        nofollow=nofollow,
        has_password=has_password,
    )
    for name in ("plain_sketch", "canonical"):  # Earlier versions stored them.
        row.pop(name, None)
    run_count, *numbers = row.pop("sketch")
    return CrawledPage(**row, sketch=Sketch(tuple(numbers), run_count), outlinks=outlinks)


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """Facts about a site that a crawl reads first: robots.txt, URLs of sitemaps and feeds, page for missing URLs."""

    robots: str = ""
    listed: tuple[SitemapEntry, ...] = ()
    missing_page: Soft404Page | None = None
    left_out: tuple[ExcludedUrls, ...] = ()
    """Sitemaps, feeds and listed URLs that were not read, by reason."""


def dump_facts(facts: SiteFacts, **more: Any) -> bytes:
    """Return facts and the values of `more`, which must be valid in JSON, as compressed JSON."""
    row = {
        **more,
        "robots": facts.robots,
        "listed": [[entry.url, entry.title, *([entry.language] if entry.language else [])] for entry in facts.listed],
        "missing_page": None if facts.missing_page is None else asdict(facts.missing_page),
        "left_out": [[one.reason, one.example, one.count] for one in facts.left_out],
    }
    return zlib.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"), 1)


def load_facts(data: bytes) -> tuple[SiteFacts, dict[str, Any]]:
    """Return the facts and the other values that `dump_facts` wrote."""
    row = json.loads(zlib.decompress(data))
    missing_page = row.pop("missing_page")
    if missing_page is not None:
        texts = tuple(missing_page.get("link_texts") or ())
        missing_page = Soft404Page(missing_page["url"], missing_page["text"], texts)
    facts = SiteFacts(
        row.pop("robots"),
        tuple(SitemapEntry(url, "", *texts) for url, *texts in row.pop("listed")),
        missing_page,
        tuple(ExcludedUrls(reason, count[0] if count else 1, url) for reason, url, *count in row.pop("left_out")),
    )
    return facts, row
