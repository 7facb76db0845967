"""What the engines' requests have in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlencode

from browsers.model import Mode, Request, Tier
from scraper.engines.common import query_operators
from scraper.engines.common.host_categories import asked_domains
from scraper.engines.model import SearchQuery

FRESHNESS_DAYS: Mapping[str, int] = MappingProxyType({"day": 1, "week": 7, "month": 30, "year": 365})


def page_request(
    engine: str, url: str, parameters: Mapping[str, str], language: str, *, wait: str | None = None
) -> Request:
    """A result page to be rendered by the browser that walls let through, with the engine's own cookies."""
    query = urlencode({name: value for name, value in parameters.items() if value})
    return Request(
        url=f"{url}?{query}" if query else url,
        tier=Tier.FULL,
        mode=Mode.RENDER,
        site_profile=profile_of(engine),
        language=language,
        wait=wait,
        headers={},
    )


def form_request(
    engine: str, url: str, form: Mapping[str, str], language: str, *, referer: str = ""
) -> Request:
    """The same, sent as the engine's own form sends it: fields that are empty are sent too."""
    headers = {"Referer": referer, "Origin": referer.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    return Request(
        url=url,
        method="POST",
        form=dict(form),
        tier=Tier.FULL,
        mode=Mode.RENDER,
        site_profile=profile_of(engine),
        language=language,
        headers=headers if referer else {},
    )


def worded(query: SearchQuery, *, filetype: bool = True, excludes: bool = True, either: str = " OR ") -> str:
    """The query with domains and category in words that most engines know: `site:`, `-site:`, `filetype:`."""
    domains = asked_domains(query.category, query.include_domains)
    return query_operators.with_words(
        query.text,
        "blog" if query.category == "blog" and "blog" not in query.text.lower() else "",
        "filetype:pdf" if filetype and query.category == "pdf" else "",
        query_operators.sites(domains, either),
        query_operators.excluded_sites(query.exclude_domains) if excludes else "",
    )


def profile_of(engine: str) -> str:
    """Under which name the cookies of an engine are kept."""
    return f"engine-{engine}"
