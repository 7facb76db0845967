"""Sites that were saved as files, answered from memory as a static host answers."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.site.traps.made_site import Response, missing, redirect

_REFRESH = re.compile(r"http-equiv=[\"']?refresh", re.IGNORECASE)
_HEAD = 3_000
"""Characters in which a page states that it only redirects."""
_BUDGET_PER_PAGE = 1.25


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the pages that answer it, by file name."""

    text: str
    answers: frozenset[str]


class SavedSite:
    """A saved site."""

    def __init__(self, folder: Path) -> None:
        """Read the files of the site in a folder of the corpus `site-pages`."""
        facts = json.loads((folder / "site.json").read_text(encoding="utf-8"))
        self.origin: str = facts["origin"]
        self.name = folder.name
        root = folder / "files"
        self._files = {str(file.relative_to(root)): file for file in root.rglob("*") if file.is_file()}
        self.pages = self._find_pages()
        """File names of the pages, each content once."""

    @property
    def budget(self) -> int:
        """Visits after which a crawl is rated."""
        return round(_BUDGET_PER_PAGE * len(self.pages))

    def get(self, url: str) -> Response:
        """Answer a request."""
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin:
            return Response(0)
        name = self._find_file(url)
        if name is None:
            return redirect(f"{parts.path}/", 301) if self._find_file(f"{url}/") else missing()
        is_page = name.endswith((".html", ".htm"))
        page = name if name in self.pages else ""
        return Response(200, self._files[name].read_bytes(), "text/html" if is_page else "application/xml", page=page)

    def find_page(self, url: str) -> str | None:
        """Return the file name of the page at a URL, or None if there is no page of the site."""
        name = self._find_file(url) or self._find_file(f"{url}/")
        return name if name in self.pages else None

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
