"""Sites that were saved as files, served from memory as a static host serves them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from browsers.model import Snapshot
from scraper import errors
from scraper.extract.outlinks import Outlinks, extract_outlinks
from scraper.extract.sitemaps import SitemapFile, parse_sitemap

_REFRESH = re.compile(r"http-equiv=[\"']?refresh", re.IGNORECASE)
_HEAD = 3_000
"""Characters in which a page states that it only redirects."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the pages that answer it, by file name."""

    text: str
    answers: frozenset[str]


class SavedSite:
    """A site as a `SiteReader`; `requests` counts what was loaded."""

    def __init__(self, folder: Path) -> None:
        """Read the files of the site in a folder of the corpus `site-pages`."""
        facts = json.loads((folder / "site.json").read_text(encoding="utf-8"))
        self.origin: str = facts["origin"]
        self.requests = 0
        root = folder / "files"
        self._files = {str(file.relative_to(root)): file for file in root.rglob("*") if file.is_file()}
        self.pages = self._find_pages()
        """File names of the pages, each content once."""

    def find_page(self, url: str) -> str | None:
        """Return the file name of the page at a URL, or None if there is no page of the site."""
        name = self._find_file(url) or self._find_file(f"{url}/")
        return name if name in self.pages else None

    async def load_robots(self, origin: str) -> str:
        """Return the text of the robots.txt."""
        file = self._files.get("robots.txt")
        return file.read_text("utf-8", "replace") if file else ""

    async def load_list(self, url: str) -> SitemapFile:
        """Return a sitemap or feed. Raises HttpStatusError if it does not exist."""
        final, data = self._load(url)
        return parse_sitemap(data, final)

    async def load_links(self, url: str) -> tuple[str, Outlinks]:
        """Return the links of a page. Raises HttpStatusError if it does not exist."""
        final, data = self._load(url)
        html = data.decode("utf-8", "replace")
        return final, extract_outlinks(Snapshot(final, url, 200, {}, "text/html", data, html))

    def _load(self, url: str) -> tuple[str, bytes]:
        self.requests += 1
        name = self._find_file(url)
        if name is None and self._find_file(f"{url}/") is not None:
            url = urljoin(url, urlsplit(url).path + "/")
            name = self._find_file(url)
        if name is None:
            raise errors.HttpStatusError(f"{url} has status 404.", status=404, target=url)
        return url, self._files[name].read_bytes()

    def _find_file(self, url: str) -> str | None:
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin:
            return None
        path = parts.path.lstrip("/")
        for name in (path, f"{path}index.html" if path.endswith("/") or not path else f"{path}.html"):
            if name in self._files:
                return name
        return None

    def _find_pages(self) -> frozenset[str]:
        first_by_content: dict[str, str] = {}
        for name, file in sorted(self._files.items()):
            if not name.endswith((".html", ".htm")) or name == "404.html":
                continue
            text = file.read_text("utf-8", "replace")
            if not _REFRESH.search(text[:_HEAD]):
                digest = hashlib.sha256(re.sub(r"\s+", " ", text).encode()).hexdigest()
                first_by_content.setdefault(digest, name)
        return frozenset(first_by_content.values())


def load_sites(folder: Path) -> dict[str, tuple[SavedSite, list[Question]]]:
    """Return the sites of the corpus with their questions, by name."""
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    sites = {}
    for name, rows in sorted(questions.items()):
        site = SavedSite(folder / name)
        asked = [Question(text, frozenset(pages) & site.pages) for text, pages in rows]
        sites[name] = site, [question for question in asked if question.answers]
    return sites
