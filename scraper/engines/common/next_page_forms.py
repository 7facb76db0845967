"""The way to the next page, taken from the page itself as it stands there."""

from __future__ import annotations

from browsers.model import Mode, Request, Tier
from scraper.engines.common.layout_parser import Select
from scraper.engines.common.request_builder import profile_of
from scraper.engines.common.result_page import ResultPage
from scraper.extract.dom.xpath import Element, element_selector

_INPUTS = element_selector(".//input[@name]")
_MAX_FIELDS = 60


def hidden_form(page: ResultPage, select: Select, engine: str) -> Request | None:
    """The last form that leads on: the first, where there are two, leads back."""
    forms = select(page.root) if page.root is not None else []
    target = page.absolute(forms[-1].get("action")) if forms else ""
    fields = _fields(forms[-1]) if forms else {}
    if not target or not fields:
        return None
    return Request(
        url=target,
        method="POST",
        form=fields,
        tier=Tier.FULL,
        mode=Mode.RENDER,
        site_profile=profile_of(engine),
        headers={},
    )


def next_link(page: ResultPage, select: Select, engine: str) -> Request | None:
    """Where the link to the next page leads."""
    links = select(page.root) if page.root is not None else []
    target = page.absolute(links[0].get("href")) if links else ""
    if not target:
        return None
    return Request(url=target, tier=Tier.FULL, mode=Mode.RENDER, site_profile=profile_of(engine), headers={})


def _fields(form: Element) -> dict[str, str]:
    inputs = _INPUTS(form)[:_MAX_FIELDS]
    return {one.get("name") or "": one.get("value") or "" for one in inputs if one.get("type") != "submit"}
