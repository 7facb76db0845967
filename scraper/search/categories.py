"""Kinds of content by where they are found: what stays of merged rows when a caller asks for one kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

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
"""What papers are called."""
_NEWS_PATH = re.compile(
    r"/(?:news|noticias|actualites?|nachrichten|article)(?:/|$)|/20\d\d/\d\d(?:/|$)", re.IGNORECASE
)
_FORUM_NAME = re.compile(
    r"(?:^|\.)(?:forums?|community|discuss|discourse|board|bbs|talk|answers)\.", re.IGNORECASE
)
_FORUM_PATH = re.compile(
    r"/(?:forums?|threads?|viewtopic|showthread|discussions?|questions)(?:[/.?]|$)", re.IGNORECASE
)
_BLOG_NAME = re.compile(r"(?:^|\.)blogs?\.", re.IGNORECASE)
_BLOG_PATH = re.compile(r"/blogs?(?:[/.]|$)", re.IGNORECASE)
_PDF = re.compile(r"\.pdf$|/pdf/", re.IGNORECASE)


def is_within(host: str, domain: str) -> bool:
    """Whether a host is the domain or one of its subdomains."""
    return host == domain or host.endswith("." + domain)


def of_category(category: str, host: str, url: str, engines: tuple[str, ...]) -> bool:
    """Whether a row of these engines is of a category."""
    return CATEGORIES[category](host, urlsplit(url).path, engines)


def _among(host: str, domains: frozenset[str]) -> bool:
    labels = host.split(".")
    return any(".".join(labels[at:]) in domains for at in range(len(labels) - 1))


def _is_news(host: str, path: str, engines: tuple[str, ...]) -> bool:
    # Whatever Google News lists is news, whoever publishes it.
    return (
        "googlenews" in engines
        or _among(host, _NEWS_HOSTS)
        or bool(_NEWS_NAME.search(host) or _NEWS_PATH.search(path))
    )


def _is_forum(host: str, path: str, engines: tuple[str, ...]) -> bool:
    return _among(host, _FORUM_HOSTS) or bool(_FORUM_NAME.search(host) or _FORUM_PATH.search(path))


def _is_blog(host: str, path: str, engines: tuple[str, ...]) -> bool:
    return _among(host, _BLOG_HOSTS) or bool(_BLOG_NAME.search(host) or _BLOG_PATH.search(path))


CATEGORIES: Mapping[str, Callable[[str, str, tuple[str, ...]], bool]] = MappingProxyType(
    {
        "news": _is_news,
        "pdf": lambda host, path, engines: _PDF.search(path) is not None,
        "github": lambda host, path, engines: is_within(host, "github.com"),
        "paper": lambda host, path, engines: _among(host, _PAPER_HOSTS),
        "forum": _is_forum,
        "blog": _is_blog,
    }
)
