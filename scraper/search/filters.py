"""Filters on search results: recency, domains, categories and texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from urllib.parse import urlsplit

from scraper.search.fusion import MergedResult
from scraper.urls import host_key

MAX_RESULT_AGE: Mapping[str, timedelta] = MappingProxyType(
    {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=31), "year": timedelta(days=366)}
)
"""Maximum age of a result, by the value of the argument `freshness`."""
_SLACK = timedelta(days=1)
"""Possible error of a date without time and time zone."""


@dataclass(frozen=True, slots=True)
class ResultFilters:
    """Conditions on results. Empty ones accept everything."""

    freshness: str | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    category: str | None = None
    include_text: str | None = None
    exclude_text: str | None = None

    def apply(self, rows: Sequence[MergedResult], now: datetime) -> tuple[tuple[MergedResult, ...], Mapping[str, int]]:
        """Return the results that meet all conditions, and the number that each argument removed."""
        dropped: dict[str, int] = {}
        accepted = tuple(rows)
        for name, test in self._tests(now).items():
            if getattr(self, name):
                before, accepted = len(accepted), tuple(row for row in accepted if test(row))
                if len(accepted) < before:
                    dropped[name] = before - len(accepted)
        return accepted, dropped

    def _tests(self, now: datetime) -> dict[str, Callable[[MergedResult], bool]]:
        """Return the test of each condition; those of empty conditions are not called."""
        return {
            "include_domains": lambda row: any(_is_within(row.host, domain) for domain in self.include_domains),
            "exclude_domains": lambda row: not any(_is_within(row.host, domain) for domain in self.exclude_domains),
            "category": lambda row: (
                row.is_of_source or _is_of_category(self.category or "", row.host, row.best.url, row.engines)
            ),
            # Results without a date are accepted, since the engine has filtered them.
            "freshness": lambda row: (
                max((one.date for _, one in row.rows if one.date), default=now)
                >= now - MAX_RESULT_AGE[self.freshness or ""] - _SLACK
            ),
            "include_text": lambda row: _contains(row, self.include_text or ""),
            "exclude_text": lambda row: not _contains(row, self.exclude_text or ""),
        }


def _contains(row: MergedResult, text: str) -> bool:
    normalized = " ".join(text.casefold().split())
    return any(normalized in " ".join(f"{one.title}\n{one.snippet}".casefold().split()) for _, one in row.rows)


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
_CATEGORIES = {
    category: (hosts, re.compile(pattern, re.IGNORECASE))
    for category, hosts, pattern in (
        (
            "news",
            _NEWS_HOSTS,
            r"^[^/]*(?:news|nachrichten|noticias|notizie|times|herald|tribune|gazette|zeitung|journal|daily|post\.|press|"
            r"kurier|chronicle)|/(?:news|noticias|actualites?|nachrichten|article)(?:/|$)|/20\d\d/\d\d(?:/|$)",
        ),
        (
            "forum",
            _FORUM_HOSTS,
            r"^(?:[^/]*\.)?(?:forums?|community|discuss|discourse|board|bbs|talk|answers)\.|"
            r"/(?:forums?|threads?|viewtopic|showthread|discussions?|questions)(?:[/.?]|$)",
        ),
        ("blog", _BLOG_HOSTS, r"^(?:[^/]*\.)?blogs?\.|/blogs?(?:[/.]|$)"),
        ("paper", _PAPER_HOSTS, r"(?!)"),
        ("pdf", frozenset[str](), r"\.pdf$|/pdf/"),
        ("github", frozenset({"github.com"}), r"(?!)"),
    )
}
"""Domains of each category, and marks in host and path of other sites."""


def _is_within(host: str, domain: str) -> bool:
    """Return True if a host, as by `host_key`, is the domain or one of its subdomains."""
    domain = host_key(f"https://{domain}/")
    return host == domain or host.endswith("." + domain)


def _is_of_category(category: str, host: str, url: str, engines: tuple[str, ...]) -> bool:
    """Return True if a result of these engines belongs to a category, or if the category is unknown here."""
    if category not in _CATEGORIES:
        return True  # The sources of the category were asked.
    if category == "news" and "googlenews" in engines:
        return True  # Every result of Google News is news.
    known, marks = _CATEGORIES[category]
    labels = host.split(".")
    domains = {".".join(labels[at:]) for at in range(len(labels) - 1)}
    return not domains.isdisjoint(known) or marks.search(f"{host}{urlsplit(url).path}") is not None
