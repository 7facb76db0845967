"""Build requests for result pages and for the next page of results."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from browsers.model import Mode, Request, Tier
from scraper.engines.model import SearchQuery
from scraper.engines.result_page import ResultPage
from scraper.engines.row_parsers import css
from scraper.html.dom.parsing import element_selector
from scraper.values.text import read_table

CODES = read_table(__package__, "codes.toml")
"""Codes of languages, countries, times and categories in requests."""
MAX_QUERY_CHARS = 499
"""Characters. DuckDuckGo rejects 500 or more; no engine finds more with longer queries."""

_MAX_SITES = 5
"""Maximum of site operators in one query. Engines handle longer lists badly; results are filtered instead."""

_QUOTED = re.compile(r'("[^"]*")')
_BANG = re.compile(r"(?<!\S)!+[\w.:+-]+")
_LAST_BANG = re.compile(r"(?<=[\w.])!+(?!\S)")
_LONE = re.compile(r"(?<!\S)[!\\]+(?=\s|$)|^\s*\\+")
_FILTER_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?(?://)?(?:[^/@\s]*@)?([^/:?#\s]+)", re.IGNORECASE)


def category_domains(category: str | None, requested: tuple[str, ...]) -> tuple[str, ...]:
    """Return the caller's domains, or the domains of the category if there are none."""
    return requested or tuple(CODES["categories"].get(category or "", ()))


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
    pieces[::2] = [_LAST_BANG.sub("", _BANG.sub(r'"\g<0>"', _LONE.sub(" ", piece))) for piece in pieces[::2]]
    return " ".join("".join(pieces).split())


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


def _hosts(domains: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(host for host in map(host_of_domain, domains) if host))


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Co", "Cn"} or character in "\u2028\u2029\ufeff\u200b"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, _, rest = text[: limit + 1].rpartition(" ")
    # A text without spaces (Chinese, Japanese) is cut at the limit.
    return head if head and len(rest) < limit // 2 else text[:limit].strip()


_TAG = re.compile(r"^([a-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?![A-Za-z\d])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Locale:
    """Language and country."""

    language: str
    """Lower case: `en`."""
    country: str
    """Upper case: `US`."""

    @property
    def tag(self) -> str:
        """Return the tag as browsers write it: `en-US`."""
        return f"{self.language}-{self.country}"


def parse_locale(tag: str) -> Locale:
    """Parse a language tag; return en-US if it is invalid.

    A tag without a country gets the main country of its language, or US if the language is not listed.
    """
    match = _TAG.match(tag.strip())
    if match is None:
        return Locale("en", "US")
    language = match.group(1).lower()
    country = (match.group(3) or "").upper()
    if not country.isalpha():
        country = "TW" if (match.group(2) or "").lower() == "hant" else CODES["countries"].get(language, "US")
    return Locale(language, country)


_INPUTS = element_selector(".//input[@name]")
_MAX_FIELDS = 60

NextPage = Callable[[ResultPage], Request | None]
FRESHNESS_DAYS: Mapping[str, int] = {"day": 1, "week": 7, "month": 30, "year": 365}


def next_page_form(engine: str, selector: str) -> NextPage:
    """Return a function that builds a request that submits the last selected form; the first of two leads back."""
    select = css(selector)

    def build_request(page: ResultPage) -> Request | None:
        forms = select(page.root)
        target = page.absolute(forms[-1].get("action")) if forms else ""
        inputs = _INPUTS(forms[-1])[:_MAX_FIELDS] if forms else []
        fields = {one.get("name") or "": one.get("value") or "" for one in inputs if one.get("type") != "submit"}
        return _rendered(engine, target, method="POST", form=fields) if target and fields else None

    return build_request


def next_page_link(engine: str, selector: str) -> NextPage:
    """Return a function that builds a request for the first selected link."""
    select = css(selector)

    def build_request(page: ResultPage) -> Request | None:
        links = select(page.root)
        target = page.absolute(links[0].get("href")) if links else ""
        return _rendered(engine, target) if target else None

    return build_request


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
    domains = category_domains(query.category, query.include_domains)
    return join_query(
        query.text,
        "blog" if query.category == "blog" and "blog" not in query.text.lower() else "",
        "filetype:pdf" if query.category == "pdf" else "",
        site_operator(domains, either),
        exclude_operators(query.exclude_domains) if excludes else "",
    )


def engine_profile(engine: str) -> str:
    """Return the name of the site profile that holds the cookies of an engine."""
    return f"engine-{engine}"
