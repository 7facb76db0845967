"""Filters on search results: recency, domains, categories and texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from urllib.parse import urlsplit

from scraper.search.fusion import MergedResult

FRESHNESS: Mapping[str, timedelta] = MappingProxyType(
    {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=31), "year": timedelta(days=366)}
)
SLACK = timedelta(days=1)
"""Possible error of a date without time and time zone."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on results. Empty ones accept everything."""

    freshness: str | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    category: str | None = None
    include_text: str | None = None
    exclude_text: str | None = None

    def apply(self, rows: Sequence[MergedResult], now: datetime) -> tuple[tuple[MergedResult, ...], Mapping[str, int]]:
        """Return the results that meet all conditions, and how many each argument dropped."""
        dropped: dict[str, int] = {}
        left = tuple(rows)
        for name, test in self._tests(now):
            if test is None:
                continue
            fitting = tuple(row for row in left if test(row))
            if len(fitting) < len(left):
                dropped[name] = len(left) - len(fitting)
            left = fitting
        return left, dropped

    def _tests(self, now: datetime) -> Iterator[tuple[str, Callable[[MergedResult], bool] | None]]:
        yield "include_domains", self._is_included if self.include_domains else None
        yield "exclude_domains", self._is_not_excluded if self.exclude_domains else None
        yield "category", self._is_of_category if self.category else None
        yield "freshness", (lambda row: self._is_fresh(row, now)) if self.freshness else None
        yield "include_text", self._has_text if self.include_text else None
        yield "exclude_text", self._lacks_text if self.exclude_text else None

    def _is_included(self, row: MergedResult) -> bool:
        return any(is_within(row.host, domain) for domain in self.include_domains)

    def _is_not_excluded(self, row: MergedResult) -> bool:
        return not any(is_within(row.host, domain) for domain in self.exclude_domains)

    def _is_of_category(self, row: MergedResult) -> bool:
        assert self.category is not None
        return is_of_category(self.category, row.host, row.best.url, row.engines)

    def _is_fresh(self, row: MergedResult, now: datetime) -> bool:
        """Return True if the result is recent; without a date the decision of the engine stands."""
        assert self.freshness is not None
        dates = [result.date for _, result in row.rows if result.date is not None]
        return not dates or max(dates) >= now - FRESHNESS[self.freshness] - SLACK

    def _has_text(self, row: MergedResult) -> bool:
        return self.include_text is not None and _contains(row, self.include_text)

    def _lacks_text(self, row: MergedResult) -> bool:
        return self.exclude_text is None or not _contains(row, self.exclude_text)


def _contains(row: MergedResult, text: str) -> bool:
    sought = " ".join(text.casefold().split())
    return any(sought in " ".join(f"{result.title}\n{result.snippet}".casefold().split()) for _, result in row.rows)


_PAPER_HOSTS = frozenset(
    "arxiv.org acm.org springer.com springeropen.com ieee.org sciencedirect.com nature.com science.org "
    "biorxiv.org medrxiv.org ssrn.com pubmed.ncbi.nlm.nih.gov ncbi.nlm.nih.gov semanticscholar.org "
    "researchgate.net jstor.org wiley.com tandfonline.com sagepub.com plos.org mdpi.com frontiersin.org "
    "openreview.net aclanthology.org neurips.cc mlr.press usenix.org pnas.org cell.com iop.org aps.org "
    "hal.science zenodo.org philpapers.org eprint.iacr.org cambridge.org oup.com".split()
)
_FORUM_HOSTS = frozenset(
    "reddit.com news.ycombinator.com stackexchange.com stackoverflow.com serverfault.com superuser.com "
    "askubuntu.com mathoverflow.net quora.com lobste.rs discourse.org lemmy.world lemmy.ml zhihu.com "
    "tieba.baidu.com v2ex.com xda-developers.com resetera.com tildes.net".split()
)
_BLOG_HOSTS = frozenset(
    "medium.com substack.com wordpress.com blogspot.com dev.to hashnode.dev ghost.io tumblr.com note.com "
    "hatenablog.com qiita.com zenn.dev blogger.com typepad.com livejournal.com bearblog.dev write.as "
    "hackernoon.com mirror.xyz svbtle.com posthaven.com".split()
)
_NEWS_HOSTS = frozenset(
    "reuters.com apnews.com bbc.com bbc.co.uk theguardian.com nytimes.com washingtonpost.com wsj.com ft.com "
    "bloomberg.com cnn.com npr.org aljazeera.com dw.com france24.com lemonde.fr lefigaro.fr spiegel.de "
    "zeit.de faz.net sueddeutsche.de tagesschau.de elpais.com elmundo.es corriere.it repubblica.it "
    "asahi.com nikkei.com nhk.or.jp yomiuri.co.jp xinhuanet.com chinadaily.com.cn scmp.com thehindu.com "
    "ndtv.com indiatimes.com theverge.com arstechnica.com techcrunch.com wired.com engadget.com cnbc.com "
    "forbes.com politico.com politico.eu axios.com economist.com time.com independent.co.uk telegraph.co.uk "
    "euronews.com globo.com uol.com.br vnexpress.net lenta.ru kommersant.ru rbc.ru haaretz.com "
    "timesofisrael.com smh.com.au abc.net.au cbc.ca globalnews.ca thestar.com theregister.com".split()
)
_NEWS_NAME = re.compile(
    r"news|nachrichten|noticias|notizie|times|herald|tribune|gazette|zeitung|journal|daily|"
    r"post\.|press|kurier|chronicle",
    re.IGNORECASE,
)
"""Parts of the names of newspapers."""
_NEWS_PATH = re.compile(r"/(?:news|noticias|actualites?|nachrichten|article)(?:/|$)|/20\d\d/\d\d(?:/|$)", re.IGNORECASE)
_FORUM_NAME = re.compile(r"(?:^|\.)(?:forums?|community|discuss|discourse|board|bbs|talk|answers)\.", re.IGNORECASE)
_FORUM_PATH = re.compile(r"/(?:forums?|threads?|viewtopic|showthread|discussions?|questions)(?:[/.?]|$)", re.IGNORECASE)
_BLOG_NAME = re.compile(r"(?:^|\.)blogs?\.", re.IGNORECASE)
_BLOG_PATH = re.compile(r"/blogs?(?:[/.]|$)", re.IGNORECASE)
_PDF = re.compile(r"\.pdf$|/pdf/", re.IGNORECASE)


def is_within(host: str, domain: str) -> bool:
    """Return True if a host is the domain or one of its subdomains."""
    return host == domain or host.endswith("." + domain)


def is_of_category(category: str, host: str, url: str, engines: tuple[str, ...]) -> bool:
    """Return True if a result of these engines belongs to a category."""
    return _CATEGORY_TESTS[category](host, urlsplit(url).path, engines)


def _is_among(host: str, domains: frozenset[str]) -> bool:
    labels = host.split(".")
    return any(".".join(labels[at:]) in domains for at in range(len(labels) - 1))


def _is_news(host: str, path: str, engines: tuple[str, ...]) -> bool:
    # Every result of Google News is news.
    return (
        "googlenews" in engines
        or _is_among(host, _NEWS_HOSTS)
        or bool(_NEWS_NAME.search(host) or _NEWS_PATH.search(path))
    )


def _is_forum(host: str, path: str, engines: tuple[str, ...]) -> bool:
    return _is_among(host, _FORUM_HOSTS) or bool(_FORUM_NAME.search(host) or _FORUM_PATH.search(path))


def _is_blog(host: str, path: str, engines: tuple[str, ...]) -> bool:
    return _is_among(host, _BLOG_HOSTS) or bool(_BLOG_NAME.search(host) or _BLOG_PATH.search(path))


_CATEGORY_TESTS: Mapping[str, Callable[[str, str, tuple[str, ...]], bool]] = MappingProxyType(
    {
        "news": _is_news,
        "pdf": lambda host, path, engines: _PDF.search(path) is not None,
        "github": lambda host, path, engines: is_within(host, "github.com"),
        "paper": lambda host, path, engines: _is_among(host, _PAPER_HOSTS),
        "forum": _is_forum,
        "blog": _is_blog,
    }
)
