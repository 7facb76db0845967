"""Build query texts: search operators, category domains, length limit and escaped bangs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

_PAGE_CATEGORIES = ("news", "pdf", "github", "paper", "forum", "blog")
"""Categories that filter the results of search engines."""
SOURCE_CATEGORIES = ("code", "package", "question", "encyclopedia", "book", "video")
"""Categories for which only sources are queried, and no search engine."""
CATEGORIES = _PAGE_CATEGORIES + SOURCE_CATEGORIES

_CATEGORY_DOMAINS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "github": ("github.com",),
        "paper": tuple(
            "arxiv.org dl.acm.org link.springer.com ieeexplore.ieee.org ncbi.nlm.nih.gov nature.com sciencedirect.com "
            "openreview.net aclanthology.org biorxiv.org medrxiv.org semanticscholar.org plos.org jstor.org "
            "onlinelibrary.wiley.com".split()
        ),
        "forum": tuple(
            "reddit.com news.ycombinator.com stackoverflow.com stackexchange.com quora.com superuser.com "
            "serverfault.com askubuntu.com lobste.rs".split()
        ),
    }
)
"""Hosts of a category. Queries name the first five; filters use all."""

_MAX_NAMED_DOMAINS = 5

MAX_QUERY_CHARS = 499
"""Characters. DuckDuckGo rejects 500 or more; no engine finds more with longer queries."""

_MAX_SITES = 5
"""Maximum of site operators in one query. Engines handle longer lists badly or not at all; results are filtered
instead."""

_QUOTED = re.compile(r'("[^"]*")')
_BANG = re.compile(r"(?<!\S)!+[\w.:+-]+")
_LAST_BANG = re.compile(r"(?<=[\w.])!+(?!\S)")
_LONE = re.compile(r"(?<!\S)[!\\]+(?=\s|$)|^\s*\\+")
_FILTER_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?(?://)?(?:[^/@\s]*@)?([^/:?#\s]+)", re.IGNORECASE)


def category_domains(category: str | None, requested: tuple[str, ...]) -> tuple[str, ...]:
    """Return the caller's domains, or the first domains of the category if there are none."""
    return requested or _CATEGORY_DOMAINS.get(category or "", ())[:_MAX_NAMED_DOMAINS]


def join_query(text: str, *parts: str) -> str:
    """Return the query on one line without control characters, followed by operators.

    Cut the query to `MAX_QUERY_CHARS` in total, at a word boundary if there is one.
    """
    tail = " ".join(filter(None, parts))
    limit = MAX_QUERY_CHARS - (len(tail) + 1 if tail else 0)
    printable = "".join(" " if _is_control(character) else character for character in text)
    return f"{_cut(' '.join(printable.split()), max(limit, 0))} {tail}".strip()


def quote_bangs(text: str) -> str:
    r"""Quote bangs such as `!w`, which redirect to another site.

    Outside quotation marks, remove `!` and `\` that stand alone, a leading `\`, and `!` at the end of a word.
    """
    pieces = _QUOTED.split(text)
    return " ".join("".join(piece if piece.startswith('"') else _quote_in(piece) for piece in pieces).split())


def site_operator(domains: Sequence[str], either: str = " OR ") -> str:
    """Return `site:` operators joined by `either`; empty if there are no domains or more than `_MAX_SITES`."""
    hosts = _hosts(domains)
    if not hosts or len(hosts) > _MAX_SITES:
        return ""
    listed = either.join(f"site:{host}" for host in hosts)
    return listed if len(hosts) == 1 else f"({listed})"


def exclude_operators(domains: Sequence[str]) -> str:
    """Return `-site:` operators of the first `_MAX_SITES` domains."""
    return " ".join(f"-site:{host}" for host in _hosts(domains)[:_MAX_SITES])


def host_of_domain(domain: str) -> str:
    """Return the host of a domain filter; accept URLs, `www.` and a leading `*.`."""
    match = _FILTER_HOST.match(domain.strip().removeprefix("*.").removeprefix("."))
    host = match.group(1).lower().strip(".") if match else ""
    return host.removeprefix("www.")


def _hosts(domains: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(host for host in map(host_of_domain, domains) if host))


def _quote_in(piece: str) -> str:
    return _LAST_BANG.sub("", _BANG.sub(r'"\g<0>"', _LONE.sub(" ", piece)))


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Co", "Cn"} or character in "\u2028\u2029\ufeff\u200b"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, _, rest = text[: limit + 1].rpartition(" ")
    # A text without spaces (Chinese, Japanese) is cut at the limit.
    return head if head and len(rest) < limit // 2 else text[:limit].strip()
