"""Content of the local engines: a small web of pages about any query, and each engine's ranking."""

from __future__ import annotations

import base64
import html
import json
from dataclasses import dataclass
from urllib.parse import quote, unquote

from tests.site.engine_pages import EngineRow

PAGE_HOSTS = (
    "harbour.example",
    "atlas.example",
    "lantern.example",
    "orchard.example",
    "meridian.example",
    "quarry.example",
    "thicket.example",
    "compass.example",
)
"""Hosts of the pages that the engines list."""

_TITLES = (
    "A short guide to {q}",
    "{q}: questions and answers",
    "What we learned from {q}",
    "The history of {q} in ten maps",
    "{q} for people in a hurry",
    "Ten mistakes about {q}",
    "{q} compared with its rivals",
    "How {q} is measured",
)
_WORDS = (
    "lemons ferry crate westerly keeper bicycle passengers lighthouse",
    "granite survey contour theodolite valley summit ridge scale",
    "lamplight evening reader chapter margin candle library desk",
    "apples blossom ladder grafting frost cider harvest basket",
    "noon shadow latitude sextant chronometer voyage deck compass",
    "stone chisel mason dust cart arch lime mortar",
    "bramble fox path hedge fern clearing beetle moss",
    "needle north magnet bearing chart declination iron brass",
    "harbourmaster tide pilot anchor buoy channel dredger quay",
    "printer type ink press folio binding proof gazette",
    "weaver loom thread indigo shuttle pattern wool selvage",
    "baker flour oven crust leaven morning queue scales",
)
_PAGES = 24
_PER_PAGE = 10
_ORDERS = {
    "duckduckgo": (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    "mojeek": (2, 0, 10, 5, 11, 1, 12, 13, 14, 15),
    "googlenews": (16, 2, 17, 18, 19, 20, 0, 21, 22, 23),
    "startpage": (1, 0, 3, 2, 16, 10, 4, 6, 8, 12),
    "brave": (0, 3, 1, 13, 2, 17, 5, 11, 9, 7),
    "bing": (1, 0, 2, 4, 3, 6, 5, 8, 7, 9),
    "baidu": (5, 6, 7, 8, 9, 18, 19, 20, 21, 22),
}
"""Pages that each engine finds, best first: some are found by several, some by one."""


@dataclass(frozen=True, slots=True)
class World:
    """Return all pages about one query."""

    query: str

    def row(self, number: int, engine: str = "") -> EngineRow:
        """Return a page as an engine lists it."""
        return EngineRow(self.title(number), self.url(number), self.snippet(number), source=self._source(number))

    def title(self, number: int) -> str:
        """Return the headline of a page."""
        volume = number // len(_TITLES)
        named = _TITLES[number % len(_TITLES)].format(q=self.query)
        return f"{named}, volume {volume + 1}" if volume else named

    def url(self, number: int) -> str:
        """Return the URL of a page."""
        host = PAGE_HOSTS[number % len(PAGE_HOSTS)]
        return f"https://{host}/read/{quote(self.query[:80], safe='')}/{number}"

    def snippet(self, number: int) -> str:
        """Return a unique sentence about the query."""
        one, other = _WORDS[number % 12].split(), _WORDS[(number + 5) % 12].split()
        half = slice(4, 8) if number >= 12 else slice(0, 4)
        made = (f"{first}{second}" for first, second in zip(one[half], other[half], strict=True))
        return f"About {self.query}: {' '.join(one[half])}, then {' '.join(made)}."

    def rows(self, engine: str, page: int = 1) -> list[EngineRow]:
        """Return the rows of a result page, advertisements included."""
        order = _ORDERS[engine]
        shift = (page - 1) * 7
        numbers = order if page == 1 else [(number + shift) % _PAGES for number in order]
        rows = [self.row(number, engine) for number in numbers[:_PER_PAGE]]
        if engine == "googlenews":
            return rows
        advertisement = EngineRow(
            f"Buy {self.query} now", "https://shop.example/offer", "The best price today.", ad=True
        )
        return [advertisement, *rows]

    def _source(self, number: int) -> str:
        return PAGE_HOSTS[number % len(PAGE_HOSTS)].partition(".")[0].title() + " Review"


def wrapped(url: str) -> str:
    """Return a publisher's URL as Google News gives it, which hides its target."""
    # Real ids are ciphers.
    token = base64.urlsafe_b64encode(b"\x08\x13\x22\x60AU_yqL" + url.encode()[::-1]).decode().rstrip("=")
    return f"https://news.google.com/rss/articles/{token}?oc=5"


def article(path: str) -> str | None:
    """Return the page at a path of a page host."""
    parts = path.split("/")
    if len(parts) != 4 or parts[1] != "read" or not parts[3].isdigit():
        return None
    world, number = World(unquote(parts[2])), int(parts[3])
    title = html.escape(world.title(number))
    words = _WORDS[number % 12].split()
    paragraphs = "".join(
        f"<p>Part {part} of what is known about {html.escape(world.query)} speaks of {words[part % 8]} and "
        f"{words[(part + 3) % 8]}: whoever asked the {words[(part + 1) % 8]} was told to wait for the "
        f"{words[(part + 5) % 8]}, and the answer, when it came, filled {part + 2} pages of the log. Nobody "
        f"has doubted it since, although figure {number * 10 + part} is still to be checked.</p>"
        for part in range(8)
    )
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title></head><body>"
        f"<header><a href='/'>Home</a></header><main><article><h1>{title}</h1>{paragraphs}</article></main>"
        "</body></html>"
    )


def instant_article(query: str) -> str:
    """Return an article in the form of the instant answer API."""
    topic = {
        "FirstURL": "https://duckduckgo.com/Ferry",
        "Icon": {"Height": "", "URL": "", "Width": ""},
        "Result": '<a href="https://duckduckgo.com/Ferry">Ferry</a> - A boat that comes back.',
        "Text": "Ferry - A boat that comes back.",
    }
    group = {"Name": "See also", "Topics": [topic | {"Text": "Quay", "Result": "<a href='/Quay'>Quay</a>"}]}
    return json.dumps(
        {
            "Abstract": f"{query} is what the harbour is known for.",
            "AbstractSource": "Wikipedia",
            "AbstractText": f"{query} is what the harbour is known for.",
            "AbstractURL": "https://en.wikipedia.org/wiki/Harbour",
            "Answer": "",
            "AnswerType": "",
            "Definition": "",
            "Heading": query,
            "Image": "",
            "ImageHeight": "",
            "Infobox": "",
            "RelatedTopics": [topic, group],
            "Results": [],
            "Type": "A",
            "meta": {"id": "just_another_test", "src_name": "hi there"},
        }
    )
