"""Base of the made sites: routes, pages, and invented text that depends on a seed."""

from __future__ import annotations

import hashlib
import html
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

_COMMON = (
    "about after again all also and any are back because been before being between both but can come could day did do "
    "down each even first for found from get good great had has have here home house how if into just know last life "
    "like little long made make many may men more most much must never new no not now of off old on one only or other "
    "our out over own people right said same see she should since small some state still such take than that the "
    "their them then there these they this those three through time too two under up very was way we well went were "
    "what when where which while who will with without work world would year you your"
).split()
_SYLLABLES = "bra cle dor fin gal hem jun kep lis mor nav pol quil ros sam tev umb vos wen yar zil".split()


@dataclass
class Response:
    """Answer of a made site."""

    status: int = 200
    body: bytes = b""
    media_type: str = "text/html"
    location: str = ""
    page: str = ""
    """Name of the true page in this response; "" for lists and traps."""
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers."""
    is_silent: bool = False
    """True if the server accepts the request and never answers."""


class Prose:
    """Invented text: common words around the rare words of one topic."""

    def __init__(self, seed: object) -> None:
        """Start the text of a seed; equal seeds give equal texts."""
        self.random = random.Random(hashlib.sha256(repr(seed).encode()).hexdigest())
        self.topic = ["".join(self.random.choices(_SYLLABLES, k=self.random.randint(2, 3))) for _ in range(12)]

    def title(self) -> str:
        """Return three words of the topic."""
        return " ".join(self.random.sample(self.topic, 3)).capitalize()

    def paragraphs(self, count: int = 4) -> str:
        """Return paragraphs of three to five sentences as HTML."""
        return "".join(
            f"<p>{' '.join(self._sentence() for _ in range(self.random.randint(3, 5)))}</p>" for _ in range(count)
        )

    def _sentence(self) -> str:
        length = self.random.randint(9, 18)
        words = [self.random.choice(self.topic if self.random.random() < 0.3 else _COMMON) for _ in range(length)]
        return f"{' '.join(words).capitalize()}."


def link(url: str, text: str, attributes: str = "") -> str:
    """Return a link as HTML."""
    return f'<a href="{html.escape(url)}"{attributes}>{html.escape(text)}</a>'


def links(rows: Iterable[tuple[str, str]]) -> str:
    """Return a list of links as HTML."""
    return f"<ul>{''.join(f'<li>{link(url, text)}</li>' for url, text in rows)}</ul>"


def build_page(
    title: str, body: str, *, nav: str = "", head: str = "", language: str = "en", page: str = ""
) -> Response:
    """Return a page with navigation, heading and body."""
    text = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{html.escape(title)}</title>{head}'
        f"</head><body><header><nav>{nav}</nav></header><main><h1>{html.escape(title)}</h1>{body}</main></body></html>"
    )
    return Response(body=text.encode(), page=page)


def redirect(location: str, status: int = 302) -> Response:
    """Return a redirect."""
    return Response(status, location=location)


def missing() -> Response:
    """Return status 404."""
    return Response(404, b"<h1>Not found</h1>")


Handler = Callable[..., Response]


@dataclass
class MadeSite:
    """A site of routes; subclasses add them in `build`."""

    seed: int = 1
    origin: str = "https://site.example"
    name = "site"
    cookies = ""
    """Cookies of the request that is answered."""
    budget = 100
    """Visits, robots.txt and sitemaps included, after which a crawl is rated."""
    pages: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Title and text of the true pages by name."""
    routes: list[tuple[re.Pattern[str], Handler]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Build the routes."""
        self.random = random.Random(self.seed)
        self.nav = link("/", "Home")
        self.build()

    def build(self) -> None:
        """Add the pages and routes of the site."""
        raise NotImplementedError

    def route(self, pattern: str, handler: Handler) -> None:
        """Answer paths that match with `handler(query, *groups)`."""
        self.routes.append((re.compile(pattern), handler))

    def home(self, body: str, title: str = "Home") -> None:
        """Add a home page of some length, whose text is no true page."""
        about = Prose((self.seed, self.name, "about")).paragraphs(5)
        self.route("/", lambda query: build_page(title, about + body, nav=self.nav))

    def add_pages(self, pattern: str, count: int) -> list[str]:
        """Add true pages `pattern` with the numbers below `count`; return their names."""
        names = [pattern.format(number) for number in range(count)]
        for name in names:
            prose = Prose((self.seed, self.name, name))
            self.pages[name] = prose.title(), prose.paragraphs()
        return names

    def title(self, name: str) -> str:
        """Return the title of a true page."""
        return self.pages[name][0]

    def show(self, name: str, *, after: str = "", nav: str | None = None, head: str = "") -> Response:
        """Return a true page, or status 404."""
        if name not in self.pages:
            return missing()
        title, text = self.pages[name]
        return build_page(title, text + after, nav=self.nav if nav is None else nav, head=head, page=name)

    def list_pages(self, names: Iterable[str]) -> str:
        """Return links to true pages as HTML."""
        return links((name, self.title(name)) for name in names)

    def get(self, url: str) -> Response:
        """Answer a request."""
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin:
            return Response(0)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        for pattern, handler in self.routes:
            if found := pattern.fullmatch(parts.path):
                return handler(query, *found.groups())
        return self.answer_unknown(url)

    def answer_unknown(self, url: str) -> Response:
        """Answer a path without a route."""
        return missing()


def number(query: dict[str, str], name: str, default: int) -> int:
    """Return a parameter as a number."""
    value = query.get(name, "")
    return int(value) if value.isdigit() else default


def sitemap(urls: Iterable[str]) -> bytes:
    """Return a sitemap."""
    rows = "".join(f"<url><loc>{html.escape(url)}</loc></url>" for url in urls)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset>{rows}</urlset>'.encode()


def sitemap_index(urls: Iterable[str]) -> bytes:
    """Return an index of sitemaps."""
    rows = "".join(f"<sitemap><loc>{html.escape(url)}</loc></sitemap>" for url in urls)
    return f'<?xml version="1.0" encoding="UTF-8"?><sitemapindex>{rows}</sitemapindex>'.encode()


def xml(body: bytes) -> Response:
    """Return an XML file."""
    return Response(body=body, media_type="application/xml")


def text_file(body: str) -> Response:
    """Return a plain text file."""
    return Response(body=body.encode(), media_type="text/plain")
