"""Read title, author, date, site name, language and description of a page, and the article in its data, or None."""

import html
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice, product
from typing import Any

from lxml import etree

from scraper.facts.metadata import author_date_labels
from scraper.facts.metadata import title as titles
from scraper.facts.metadata.written_dates import DATE_ROLES, DATE_TAGS, NAMES, DateKind, names_date, read_date
from scraper.facts.schema_graph import SchemaGraph
from scraper.facts.syntaxes import jsonld
from scraper.html.dom.parsing import Element, parse_html, text_of
from scraper.html.page import page_tree
from scraper.html.page.page_tree import PageHead, PageTree
from scraper.html.page.segmentation import segment_body
from scraper.model import PageMetadata
from scraper.text import date_parsing
from scraper.text.likeness import containment, split_runs
from scraper.text.sanitize import clean_line, name_key
from scraper.text.terms import split_words
from scraper.urls import host_key, join_url, result_key
from scraper.values.types import LANGUAGE_TAG
from scraper.words.matcher import Words

_MAX_NAME = 120

_SCHOLARLY_METAS = frozenset({"citation_author", "dc.creator"})
_REVERSED_NAME = re.compile(r"([^\s,]+(?: [^\s,]+)?),\s*([^,]+)")
_MAX_AUTHORS = 5

_DATE_METAS, _AUTHOR_METAS = NAMES["date_metas"], NAMES["author_metas"]
_DESCRIPTION_METAS = ("description", "og:description", "twitter:description")
_MAX_DESCRIPTION = 500
_PLACEHOLDER_NAMES = Words("byline.no_author")
_DATE_NAMES = Words(*date_parsing.MONTHS_AND_DAYS, language="en")
"""Months and days of the week, which begin a date in the place of a name."""
_DATE_PROPERTIES = ("datePublished", "dateCreated", "uploadDate", "datePosted")
_NAME_SEPARATOR = re.compile(r"[,;&/]| - ")
_URL_PROPERTIES = ("url", "mainEntityOfPage", "@id")
_MEDIA = re.compile(r"(?:Image|Video|Audio|Media|3DModel)(?:Object)?\b|Clip\b|Photograph\b")
_OWN_PROPERTIES = frozenset({"author", *_DATE_PROPERTIES})
_ORGANIZATIONS = ("Organization", "Corporation", "LocalBusiness", "Brand")
_NAME_BESIDE_MAIL = re.compile(r"\A\S+@\S+\s+\((.+)\)\Z|\A(.+?)\s+<?\S+@\S+>?\Z")


_ARTICLES = ("Article", "Posting", "Report", "Review")
_MIN_CHARACTERS, _MAX_CHARACTERS = 600, 500_000
"""Minimum characters of an article, and the characters that are read of it."""
_MIN_RATIO = 2.0
"""A stated text that is less than this many times longer differs by boxes and captions, not by missing parts."""

_SHORT = 300
"""Characters. Shorter content may be a notice, which shares no words with the article."""

_MIN_SHARED = 0.5
_RUN = 3
_MAX_TITLE = 40
"""Characters of a title that are compared, because the site's name may follow."""
_TAG = re.compile(r"<(?:p|br|div|h[1-6]|li|a|strong|em|b|i|span)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JsonLdArticle:
    """Text of an article in the structured data of its page."""

    paragraphs: tuple[str, ...]
    headline: str
    is_free: bool
    """False if the page declares that readers must pay for it."""

    @property
    def characters(self) -> int:
        """Length of the text."""
        return sum(map(len, self.paragraphs))

    def exceeds(self, text: str, title: str | None) -> bool:
        """Return True if the article belongs to the page, and is `_MIN_RATIO` times longer than its text."""
        if self.characters < _MIN_RATIO * len(text):
            return False
        is_titled = bool(title) and name_key(self.headline)[:_MAX_TITLE] == name_key(title)[:_MAX_TITLE]
        return len(text) < _SHORT or is_titled or self.contains(text)

    def contains(self, text: str) -> bool:
        """Return True if the article contains at least half of a text, by runs of three words."""
        own, stated = (split_runs(split_words(one), _RUN) for one in (text, "\n".join(self.paragraphs)))
        return containment(own, stated) >= _MIN_SHARED

    def as_element(self) -> Element:
        """Return an element with the paragraphs."""
        root = etree.Element("div")
        for paragraph in self.paragraphs:
            etree.SubElement(root, "p").text = paragraph
        return root


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata(PageMetadata):
    """Metadata of a page, with its article."""

    article: JsonLdArticle | None = None
    """Text of the article in the page's data."""


def read(page: PageTree) -> Metadata:
    """Read the metadata of a page, whose body must be complete."""
    metas: dict[str, str] = {}
    for name, content in page.head.metas:
        metas.setdefault(name, content)
    metas |= _join_authors(page.head.metas)
    items = jsonld.read_items(
        page.head.jsonld_scripts, without=page_tree.THIRD_PARTY_PROPERTIES, single=page_tree.THIRD_PARTY_LISTS
    )
    site = _find_site_name(metas, items)
    title = titles.read(page, metas, site)
    own = _select_own_items(items, title or "", page.url)
    near = find_near_headline(page.body)
    descriptions = (clean_line(metas.get(name, ""), _MAX_DESCRIPTION) for name in _DESCRIPTION_METAS)
    published, source = _find_published(page, near, metas, own)
    return Metadata(
        title=title,
        author=_find_author(near or first_elements(page.body), metas, _read_item_authors(own, items), site, page.url),
        published=published,
        published_source=source,
        site_name=site,
        language=_find_language(page.head, metas),
        description=next((titles.unescape_twice(text) for text in descriptions if text), None),
        article=find_jsonld_article(items),
    )


def _join_authors(metas: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for name, content in metas:
        if name in _AUTHOR_METAS and "://" not in content:
            turned = name in _SCHOLARLY_METAS and _REVERSED_NAME.fullmatch(clean_line(content, _MAX_NAME))
            found.setdefault(name, []).append(f"{turned[2]} {turned[1]}" if turned else content)
    people = {name: list(filter(author_date_labels.clean_person, names)) or names[:1] for name, names in found.items()}
    return {name: ", ".join(dict.fromkeys(names[:_MAX_AUTHORS])) for name, names in people.items()}


def _select_own_items(items: list[jsonld.JsonLdItem], title: str, url: str) -> list[jsonld.JsonLdItem]:
    """Return the items that may describe the page, first those with its URL or headline.

    Left out are pictures and clips, which describe only themselves, and items with another headline: those that also
    have another URL, and all if one item has the headline of the page. A clip with the title of the page comes last.
    """
    dated = (item for item in items if not _OWN_PROPERTIES.isdisjoint(item))
    ranked = [(rank, item) for item in dated if (rank := _rank_item(item, title, url)) is not None]
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    has_own = any(rank >= titles.MIN_AGREEMENT and "headline" in item for rank, item in ranked)
    return [item for rank, item in ranked if rank >= titles.MIN_AGREEMENT or not (has_own and "headline" in item)]


def _rank_item(item: jsonld.JsonLdItem, title: str, url: str) -> float | None:
    """Return the likeness of the headlines of an item and a page, 2 if the URL is the same, -1 for a clip, or None."""
    headlines = jsonld.read_names([item.get("headline"), item.get("name")])
    likeness = max((titles.agreement(headline, title) for headline in headlines), default=0.0)
    addresses = [address for name in _URL_PROPERTIES for address in _read_addresses(item.get(name))]
    if addresses and result_key(url) in (result_key(join_url(url, address)) for address in addresses):
        likeness = 2.0
    is_own, types = likeness >= titles.MIN_AGREEMENT, " ".join(jsonld.type_names(item))
    if _MEDIA.search(types):
        return -1.0 if is_own and "Image" not in types else None
    return likeness if is_own or not (headlines and title and addresses) else None


def _read_addresses(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    stated = [one.get("@id") or one.get("url") if isinstance(one, dict) else one for one in listed]
    return [one for one in stated if isinstance(one, str)]


def _find_author(
    near: list[Element], metas: dict[str, str], stated: tuple[list[str], list[str]], site: str | None, url: str
) -> str | None:
    """Return the first declared author that is shown near the headline, else a byline, else the declared author."""
    people, organizations = stated
    candidates = [*people, *(metas.get(name, "") for name in _AUTHOR_METAS)]
    if "written" in metas.get("twitter:label1", "").lower():
        candidates.append(metas.get("twitter:data1", ""))
    declared, bylines, others = (
        [name for text in texts if (name := _parse_person(text, site))]
        for texts in (candidates, find_author_names(near), organizations)
    )
    texts = (text for element in near if declared for text in (element.text, element.tail) if text)
    visible = "".join(map(name_key, (*bylines, *texts)))
    shown = [name for name in declared if name_key(_NAME_SEPARATOR.split(name, maxsplit=1)[0]) in visible]
    names = [*shown, *bylines, *declared, *others]
    host = host_key(url)
    sites = {name_key(text) for text in (site, host, *host.split(".")[:-1]) if text}
    return min(names, key=lambda name: _is_site(name, sites), default=None)


def _is_site(name: str, sites: Collection[str]) -> bool:
    words = [word for word in split_words(name.lower()) if word not in _PLACEHOLDER_NAMES.all]
    return name_key("".join(words)) in sites or name_key("".join(words[:-1])) in sites


def _read_item_authors(
    items: list[jsonld.JsonLdItem], referenced: list[jsonld.JsonLdItem]
) -> tuple[list[str], list[str]]:
    """Return for each item the people among its authors, and in a second list all its authors, also organizations."""
    stated = [authors if isinstance(authors, list) else [authors] for item in items if (authors := item.get("author"))]
    unnamed = [one for authors in stated for one in authors if isinstance(one, dict) and not jsonld.read_names(one)]
    found = SchemaGraph(referenced).items() if unnamed else ()
    by_id = {str(item["@id"]): item for item in found if "@id" in item and jsonld.read_names(item)}
    people: list[str] = []
    organizations: list[str] = []
    for authors in stated:
        listed = [by_id.get(str(one.get("@id")), one) if one in unnamed else one for one in authors]
        own = [one for one in listed if not (isinstance(one, dict) and _is_organization(one))]
        people.append(", ".join(jsonld.read_names(own)[:_MAX_AUTHORS]))
        organizations.append(", ".join(jsonld.read_names(listed)[:_MAX_AUTHORS]))
    return people, organizations


def _is_organization(item: jsonld.JsonLdItem) -> bool:
    return any(name in kind for kind in jsonld.type_names(item) for name in _ORGANIZATIONS)


def _parse_person(text: str, site: str | None) -> str | None:
    name = author_date_labels.strip_byline(titles.unescape_twice(clean_line(text, _MAX_NAME * 2)).lstrip(" ,;|"))
    beside = _NAME_BESIDE_MAIL.match(name)
    if beside:
        name = (beside.group(1) or beside.group(2)).strip(" -–,|")
    lowered = name.lower().rstrip(".")
    is_name = lowered not in _PLACEHOLDER_NAMES.all | _DATE_NAMES.all and name.lower() != (site or "").lower()
    is_long = len(name) > 2 or (len(name) == 2 and name.isalpha())
    is_code = "://" in name or name.endswith(("*", "()"))  # a form field, a function call
    return (
        name if is_name and is_long and not is_code and len(name) <= _MAX_NAME and any(map(str.isalpha, name)) else None
    )


def _find_published(
    page: PageTree, near: list[Element], metas: dict[str, str], items: list[jsonld.JsonLdItem]
) -> tuple[datetime | None, str | None]:
    for item, name in product(items, _DATE_PROPERTIES):
        stated = item.get(name)
        first = next(iter(stated), None) if isinstance(stated, list) else stated
        moment = date_parsing.parse_date(first) if isinstance(first, str) else None
        if moment:
            return moment, "structured"
    for name in _DATE_METAS:
        moment = date_parsing.parse_date(metas.get(name, ""))
        if moment:
            return moment, "meta"
    moment = date_parsing.find_url_date(page.url)
    if moment:
        return moment, "url"
    moment = find_publication_date(near)
    return moment, "text" if moment else None


def _find_site_name(metas: dict[str, str], items: list[jsonld.JsonLdItem]) -> str | None:
    names = [metas.get("og:site_name", ""), metas.get("application-name", "")]
    names += [
        name for item in items if "WebSite" in jsonld.type_names(item) for name in jsonld.read_names(item.get("name"))
    ]
    names += [name for item in items for name in jsonld.read_names(item.get("publisher"))]
    names.append(metas.get("citation_journal_title", ""))
    cleaned = (clean_line(text, _MAX_NAME).rstrip("/") for text in names if "://" not in text)
    return next((name for name in cleaned if any(map(str.isalnum, name))), None)


def _find_language(head: PageHead, metas: dict[str, str]) -> str | None:
    for declared in (head.language, metas.get("og:locale", ""), metas.get("content-language", "")):
        tag = declared.strip().replace("_", "-")
        if LANGUAGE_TAG.fullmatch(tag):
            return tag
    return None


def find_author_names(near: Sequence[Element]) -> Iterator[str]:
    """Yield possible authors of a page: first from elements marked as author, then from texts such as "By ...".

    Elements of one row are the authors of one text. Of nested elements, only the innermost with a name counts.
    """
    named = {
        element: author_date_labels.read_names(element, author_date_labels.clean_person)
        for element in near
        if author_date_labels.declares_author(element)
    }
    around = {outer for element, names in named.items() if names for outer in element.iterancestors()}
    rows: dict[tuple[Element | None, str, str | None], dict[str, None]] = {}
    for element, names in named.items():
        row = element.getparent()
        row = row.getparent() if row is not None and row.tag == "li" else row
        if names and element not in around:
            rows.setdefault((row, element.tag, element.get("class")), {}).update(dict.fromkeys(names))
    yield from (", ".join(islice(row, _MAX_AUTHORS)) for row in rows.values())
    for element in near:
        if name := author_date_labels.read_signed_name(element):
            yield name


def find_publication_date(near: Sequence[Element]) -> datetime | None:
    """Return the first publication date, else the first date of a change, else None; ignore dates of memberships."""
    changed: datetime | None = None
    for element in near:
        is_dated = element.tag in DATE_TAGS or names_date(element.get("class") or "")
        date = read_date(element, is_dated=is_dated or element.get("itemprop") in DATE_ROLES)
        if date is not None and date.moment is not None and date.kind is not DateKind.JOINED:
            if date.kind is DateKind.PUBLISHED:
                return date.moment
            changed = changed or date.moment
    return changed


_MAX_ELEMENTS = 20_000
"""Elements of a page that are searched for the headline."""
_ELEMENTS_BEFORE, _ELEMENTS_AFTER = 40, 90
"""Elements before and after the headline. Bylines and dates are above or below it."""

_SIDE_TAGS = frozenset({"nav", "footer", "aside", "blockquote"})


def find_near_headline(body: Element) -> list[Element]:
    """Return the elements near the headline in document order, or [] without a headline.

    Elements in navigation, footers, asides and quotations are left out.
    """
    headline = _find_headline(body)
    if headline is None:
        return []
    every = islice(body.iter("*"), _MAX_ELEMENTS)
    before: deque[Element] = deque(maxlen=_ELEMENTS_BEFORE)
    for one in every:
        if one is headline:
            return _exclude_side_matter([*before, one, *islice(every, _ELEMENTS_AFTER - 1)])
        before.append(one)
    return []


def first_elements(body: Element) -> list[Element]:
    """Return the first elements of a page, for pages without a headline; navigation and side matter are left out."""
    return _exclude_side_matter(list(islice(body.iter("*"), _ELEMENTS_BEFORE + _ELEMENTS_AFTER)))


def _exclude_side_matter(near: list[Element]) -> list[Element]:
    parents = {element.getparent(): element for element in near}  # most elements share a parent
    outside = {parent for parent, one in parents.items() if next(one.iterancestors(*_SIDE_TAGS), None) is None}
    return [element for element in near if element.getparent() in outside]


def _find_headline(body: Element) -> Element | None:
    declared = (heading for heading in body.iter("h1", "h2") if heading.get("itemprop") == "headline")
    return next(chain(declared, (heading for heading in body.iter("h1") if text_of(heading).strip())), None)


def find_jsonld_article(items: Iterable[jsonld.JsonLdItem]) -> JsonLdArticle | None:
    """Return the longest `articleBody` of the articles in the JSON-LD of a page, or None below `_MIN_CHARACTERS`."""
    best, headline, is_free = "", "", True
    for item in items:
        body = item.get("articleBody")
        if isinstance(body, list):
            body = "\n".join(part for part in body if isinstance(part, str))
        if not isinstance(body, str) or len(body) <= max(len(best), _MIN_CHARACTERS - 1):
            continue
        if any(name.endswith(_ARTICLES) for name in jsonld.type_names(item)):
            headline = str(item.get("headline") or item.get("name") or "")
            best, is_free = body, str(item.get("isAccessibleForFree", True)).lower() not in ("false", "0", "no")
    return JsonLdArticle(_paragraphs(best[:_MAX_CHARACTERS]), headline, is_free) if best else None


def _paragraphs(body: str) -> tuple[str, ...]:
    """Return the lines of a text, which may be escaped HTML."""
    text = html.unescape(body)
    root = parse_html(f"<body>{text}</body>").root if _TAG.search(text) else None
    if root is not None:
        return tuple(segment_body(root).texts)
    return tuple(line.strip() for line in text.split("\n") if line.strip())
