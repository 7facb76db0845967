"""Read sites from memory as the crawler reads them from the web."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from browsers.model import Snapshot
from scraper import errors
from scraper.extract.outlinks import extract_outlinks
from scraper.extract.reader import read
from scraper.extract.sitemaps import SitemapFile, parse_sitemap
from scraper.model import Document
from scraper.reading.robots import RobotsRules
from scraper.site.web_site_reader import LoadedPage, WebSiteReader
from tests.site.traps.made_site import Response

_MAX_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Visit:
    """One request with its redirects."""

    url: str
    page: str
    """Name of the true page; "" for lists, traps and failures."""


class OfflineReader(WebSiteReader):
    """A reader over `respond`, which answers a URL; `visits` has every request."""

    def __init__(
        self,
        respond: Callable[[str], Response],
        known: dict[bytes, Document] | None = None,
        read_document: Callable[[Snapshot], Document] = read,
    ) -> None:
        """Read a site; `known` keeps documents, so that sites that are crawled often are read once."""
        self._respond = respond
        self._read = read_document
        self._known = {} if known is None else known
        self.visits: list[Visit] = []

    async def load_robots(self, origin: str) -> RobotsRules:
        """Return the rules of the robots.txt, none if there is no file."""
        response, _ = self.visit(f"{origin}/robots.txt")
        is_text = response.status == 200 and not response.body.lstrip().startswith(b"<")
        return RobotsRules(response.body.decode("utf-8", "replace") if is_text else "")

    async def load_list(self, url: str) -> SitemapFile:
        """Return a sitemap or feed. Raises HttpStatusError if it does not exist."""
        response, final = self.visit(url)
        if response.status != 200:
            raise errors.HttpStatusError(f"{url} has status {response.status}.", status=response.status, target=url)
        return parse_sitemap(response.body, final)

    async def load_page(self, url: str) -> LoadedPage:
        """Return a page.

        Raises:
            HttpStatusError: It does not exist.
            UnsupportedTypeError: It is no page.
        """
        response, final = self.visit(url)
        if response.status != 200:
            raise errors.HttpStatusError(f"{url} has status {response.status}.", status=response.status, target=url)
        if response.media_type != "text/html":
            raise errors.UnsupportedTypeError(f"{url} is no page.", target=url)
        snapshot = _build_snapshot(final, response.body)
        document = self._known.get(response.body)
        if document is None:
            document = self._known[response.body] = self._read(snapshot)
        return LoadedPage(final, document, extract_outlinks(snapshot))

    def visit(self, url: str) -> tuple[Response, str]:
        """Follow redirects of the server and of the page, as a browser does."""
        final, host = url, urlsplit(url).netloc
        response = self._respond(final)
        for _ in range(_MAX_REDIRECTS):
            target = response.location
            if response.status == 200 and b"http-equiv" in response.body[:3_000]:
                target = extract_outlinks(_build_snapshot(final, response.body)).refresh
            if not target:
                break
            final = urljoin(final, target)
            # Another host answers with some page.
            response = (
                self._respond(final) if urlsplit(final).netloc == host else Response(body=b"<p>Another site.</p>")
            )
        if response.status in _REDIRECTS:
            response = Response(0)
        self.visits.append(Visit(url, response.page if response.status == 200 else ""))
        return response, final


def _build_snapshot(url: str, body: bytes) -> Snapshot:
    return Snapshot(url, url, 200, media_type="text/html", body=body, html=body.decode("utf-8", "replace"))
