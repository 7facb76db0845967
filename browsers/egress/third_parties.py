"""Decide which third parties a page may load: trackers and widgets are refused by host, before they cost anything.

The hosts are in `third_parties.txt`. They never include challenges, captchas, CDNs, payment, maps, players and
comments.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources

from browsers.egress.filter_lists import FilterLists
from browsers.egress.ip_rules import normalize_host
from browsers.http.domains import registrable_domain
from browsers.model import ThirdParties
from browsers.settings import BrowserSettings

_TRACKERS = frozenset({"ad", "analytics", "tag-manager"})
_WIDGETS = frozenset({"social", "marketing", "chat", "consent"})
_REFUSED_CATEGORIES: Mapping[ThirdParties, frozenset[str]] = {
    ThirdParties.ALL: frozenset(),
    ThirdParties.NO_TRACKERS: _TRACKERS,
    ThirdParties.CONTENT_ONLY: _TRACKERS | _WIDGETS,
}


@functools.cache
def _load_entities() -> Mapping[str, tuple[int, str]]:
    """Return the number of the entity and its category by host."""
    text = resources.files("browsers.egress").joinpath("third_parties.txt").read_text(encoding="utf-8")
    entities = {}
    for number, line in enumerate(text.splitlines()):
        if line and not line.startswith("#"):
            category, *hosts = line.split()
            entities.update(dict.fromkeys(hosts, (number, category)))
    return entities


def _find_entity(host: str) -> tuple[int, str] | None:
    """Return number and category, such as `ad`, of the entity that owns a host, or None if it is not in the file."""
    entities, name = _load_entities(), normalize_host(host)
    while name:
        if (entity := entities.get(name)) is not None:
            return entity
        name = name.partition(".")[2]
    return None


class ThirdPartyFilter:
    """Decide which third-party hosts one page may load."""

    def __init__(
        self, allowed: ThirdParties, page_hosts: tuple[str, ...], filter_lists: FilterLists | None = None
    ) -> None:
        """Refuse the third parties that `allowed` excludes.

        `page_hosts` are never refused: the hosts of redirects or earlier pages, and last that of the page. The hosts of
        `filter_lists` are refused too, unless `allowed` is `ThirdParties.ALL`.
        """
        self._filter_lists = filter_lists
        self._page_host = normalize_host(page_hosts[-1])
        self._categories = _REFUSED_CATEGORIES[allowed]
        self._own_domains = {_domain(host) for host in page_hosts}
        self._own_entities = {entity[0] for host in page_hosts if (entity := _find_entity(host))}

    def refuses(self, host: str) -> bool:
        """Return True if the page must not load anything from the host."""
        if not self._categories or _domain(host) in self._own_domains:
            return False
        if self._filter_lists is not None and self._filter_lists.refuses(normalize_host(host), self._page_host):
            return True
        entity = _find_entity(host)
        return entity is not None and entity[1] in self._categories and entity[0] not in self._own_entities


class ThirdPartyPolicy:
    """The operator's policy for the third parties of all pages."""

    def __init__(self, settings: BrowserSettings) -> None:
        """Read the filter lists. Raises FilterListError if one is unusable."""
        self._allows_all = settings.third_parties == ThirdParties.ALL
        self._filter_lists = FilterLists(settings.filter_lists) if settings.filter_lists else None

    def make_filter(self, allowed: ThirdParties, page_hosts: tuple[str, ...]) -> ThirdPartyFilter:
        """Return the filter of a page that asks for `allowed`; it refuses nothing if the operator allows all."""
        return ThirdPartyFilter(ThirdParties.ALL if self._allows_all else allowed, page_hosts, self._filter_lists)


def _domain(host: str) -> str:
    return registrable_domain(normalize_host(host))
