"""Build requests for result pages and for the next page of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from browsers.model import Mode, Request, Tier
from scraper.engines.common import query_operators
from scraper.engines.common.layout_parser import ElementSelect
from scraper.engines.common.result_page import ResultPage
from scraper.engines.model import SearchQuery
from scraper.html.dom.xpath import element_selector

_INPUTS = element_selector(".//input[@name]")
_MAX_FIELDS = 60

FRESHNESS_DAYS: Mapping[str, int] = MappingProxyType({"day": 1, "week": 7, "month": 30, "year": 365})


def next_page_form(page: ResultPage, select: ElementSelect, engine: str) -> Request | None:
    """Return a request that submits the last selected form, or None without one; of two forms, the first leads back."""
    forms = select(page.root) if page.root is not None else []
    target = page.absolute(forms[-1].get("action")) if forms else ""
    inputs = _INPUTS(forms[-1])[:_MAX_FIELDS] if forms else []
    fields = {one.get("name") or "": one.get("value") or "" for one in inputs if one.get("type") != "submit"}
    return _rendered(engine, target, method="POST", form=fields) if target and fields else None


def next_page_link(page: ResultPage, select: ElementSelect, engine: str) -> Request | None:
    """Return a request for the first selected link, or None without one."""
    links = select(page.root) if page.root is not None else []
    target = page.absolute(links[0].get("href")) if links else ""
    return _rendered(engine, target) if target else None


def page_request(
    engine: str, url: str, parameters: Mapping[str, str], language: str, *, wait: str | None = None
) -> Request:
    """Return a GET request that renders a result page in the full browser with the cookies of the engine."""
    query = urlencode({name: value for name, value in parameters.items() if value})
    return _rendered(engine, f"{url}?{query}" if query else url, language=language, wait=wait)


def form_request(engine: str, url: str, form: Mapping[str, str], language: str, *, referer: str = "") -> Request:
    """Return a POST request as the form of the engine sends it, with empty fields."""
    headers = {"Referer": referer, "Origin": referer.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    request = _rendered(engine, url, method="POST", form=dict(form), language=language)
    return replace(request, headers=headers) if referer else request


def _rendered(engine: str, url: str, **fields: Any) -> Request:
    # The default of `headers` cannot travel between processes.
    return Request(url, tier=Tier.FULL, mode=Mode.RENDER, site_profile=engine_profile(engine), headers={}, **fields)


def query_text(query: SearchQuery, *, excludes: bool = True, either: str = " OR ") -> str:
    """Return the query text with domains and category as the operators `site:`, `-site:` and `filetype:`.

    The category `blog` adds the word "blog".
    """
    domains = query_operators.category_domains(query.category, query.include_domains)
    return query_operators.join_query(
        query.text,
        "blog" if query.category == "blog" and "blog" not in query.text.lower() else "",
        "filetype:pdf" if query.category == "pdf" else "",
        query_operators.site_operator(domains, either),
        query_operators.exclude_operators(query.exclude_domains) if excludes else "",
    )


def engine_profile(engine: str) -> str:
    """Return the name of the site profile that holds the cookies of an engine."""
    return f"engine-{engine}"
