"""Build the tree of the visible content of a page, with shadow roots and frames in their places.

The module also identifies third-party content such as reviews and comments by its microdata.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from browsers.model import Frame, Snapshot
from scraper.html.dom import parsing
from scraper.html.dom.parsing import UNREADABLE, Element, attribute_selector, collect_names, element_selector, text_of
from scraper.html.math import formulas
from scraper.html.page import hidden_elements, media_placeholders, text_styles
from scraper.text.terms import count_words
from scraper.urls import join_url, parse_link_header
from scraper.values.text import read_table

_NAMES = read_table(__package__, "names.toml")
_MAX_FRAMES = 50

_WITHOUT_TEXT = "applet audio video track map area datalist progress meter frame frameset noframes portal param".split()
_SCRIPT_NOTE = re.compile(r"java\s?-?script|\bscripts?\b", re.IGNORECASE)
_MAX_NOTE = 400
_FALLBACK_WORDS = 40
"""Words. A `noscript` element with more is content, and a page with fewer other words needs it."""

_SVG_TEXTS = element_selector(".//text | .//foreignobject | .//foreignObject")
_SVG_CAPTIONS = element_selector("./title | ./desc")
_MIN_LABELS = 3
"""Labels of a drawing that is a chart or diagram. Each is a line; those of an icon or logo are a part of the text."""
_MAX_SVG_TEXT = 2_000
_MARKED_FRAMES = attribute_selector("data-x-frame")
_WITH_URL = element_selector(".//*[@href or @src or @srcset or @data-src]")


@dataclass(frozen=True, slots=True)
class ScriptElement:
    """A script of the page: media type, text, URL and id."""

    type: str
    text: str
    source: str
    name: str = ""
    """Id of the element."""


@dataclass(frozen=True, slots=True)
class PageHead:
    """Metadata that a page declares in its head."""

    language: str = ""
    title: str = ""
    metas: tuple[tuple[str, str], ...] = ()
    """Name, property, itemprop or http-equiv in lower case, and content."""
    links: tuple[tuple[str, str], ...] = ()
    """Relation in lower case, and URL."""
    scripts: tuple[ScriptElement, ...] = ()
    frames: tuple[str, ...] = ()
    """URLs of the frames in the page."""
    tools: tuple[str, ...] = ()
    """Names of the forms that the page declares as tools for agents (WebMCP)."""

    @property
    def jsonld_scripts(self) -> list[str]:
        """Texts of the JSON-LD scripts."""
        return [script.text for script in self.scripts if "ld+json" in script.type]


@dataclass(frozen=True, slots=True)
class PageTree:
    """A page that is ready for extraction. Its readers may change `body`."""

    url: str
    base: str
    body: Element
    head: PageHead = field(default_factory=PageHead)
    hidden_removed: int = 0
    may_hide_text: bool = False
    """True if a rule that only a browser can evaluate may hide text of a page as served."""
    is_styled: bool = False
    """True if style sheets, inline styles or scripts of the page as served may hide text that was not found."""
    degraded: bool = False
    binary: bool = False
    """True if the page is declared as HTML, but is not text."""
    asks_for_scripts: bool = False
    """True if the page says that it needs JavaScript."""
    embeds: int = 0
    """Number of frames whose content is not in the page."""
    classes: str = ""
    """At least all values of `class` in the body, one per line."""
    tags: frozenset[str] = frozenset()
    """At least all tags of the page as parsed, like the names of `attributes`."""
    attributes: frozenset[str] = frozenset()
    may_hold_formulas: bool = True
    """True if an element is or may become a formula, judged by tags and attributes, which do not change later."""


def build_page_tree(snapshot: Snapshot) -> PageTree:
    """Build the tree of a snapshot of HTML."""
    parsed = parsing.parse_html(snapshot.html)
    root = parsed.root
    if root is None:
        body = etree.Element("body")
        return PageTree(snapshot.url, snapshot.url, body, degraded=parsed.degraded, binary=parsed.degraded)
    head = _head(root, parse_link_header(snapshot.headers.get("link", ""), snapshot.url))
    base = find_base_url(root, snapshot.url)
    inline_shadow_roots(root)
    names = collect_names(root)
    may_hold_formulas = formulas.normalize_formulas(root, names.classes, names.tags)
    media_placeholders.resolve_lazy_media(root, base, names.tags)
    removed = hidden_elements.remove_marked(root) if hidden_elements.HIDDEN_ATTRIBUTE in snapshot.html else 0
    is_doubtful = is_styled = False
    # Before frames are inserted: a PDF in a frame is a page of the browser.
    media_placeholders.link_embedded_documents(root, base)
    if snapshot.rendered:
        removed += _insert_frames(root, snapshot.frames)
        may_hold_formulas = may_hold_formulas or bool(snapshot.frames)
        names = collect_names(root) if snapshot.frames else names
    else:
        count, is_doubtful, is_styled = hidden_elements.remove_styled(root, names.attributes)
        removed += count
    body = _merge_bodies(root)
    asks_for_scripts = not snapshot.rendered and _remove_script_notes(body)
    embeds = sum(1 for _ in root.iter("iframe", "frame", media_placeholders.VIDEO_TAG))
    media_placeholders.form_figures(body, names.classes)
    text_styles.apply_text_styles(body, names)
    for drawing in list(body.iter("svg")):
        _replace_drawing(drawing)
    etree.strip_elements(body, *UNREADABLE, *_WITHOUT_TEXT, with_tail=False)
    if snapshot.rendered and not _needs_fallback(body):
        etree.strip_elements(body, "noscript", with_tail=False)
    text_styles.rename_inline_elements(body, names.tags)
    is_flattened = parsing.flatten_deep_elements(body)
    return PageTree(
        snapshot.url,
        base,
        body,
        head,
        hidden_removed=removed,
        may_hide_text=is_doubtful,
        is_styled=is_styled,
        degraded=parsed.degraded or is_flattened,
        asks_for_scripts=asks_for_scripts,
        embeds=embeds,
        classes=names.classes,
        tags=names.tags,
        attributes=names.attributes,
        may_hold_formulas=may_hold_formulas,
    )


def _head(root: Element, header_links: Iterable[Mapping[str, str]]) -> PageHead:
    found: defaultdict[str, list[Element]] = defaultdict(list)
    for element in root.iter("title", "meta", "link", "script", "iframe", "frame", "form"):
        found[element.tag.removeprefix("i")].append(element)
    links: list[Element | Mapping[str, str]] = [*found["link"], *header_links]
    return PageHead(
        language=(root.get("lang") or root.get("xml:lang") or "").strip(),
        title=next((text_of(title) for title in found["title"] if _is_page_title(title)), ""),
        metas=tuple(_parse_metas(found["meta"])),
        links=tuple((_relation(link), link.get("href") or "") for link in links),
        scripts=tuple(
            ScriptElement(
                (script.get("type") or "").lower(), script.text or "", script.get("src") or "", script.get("id") or ""
            )
            for script in found["script"]
        ),
        frames=tuple(frame.get("src") or "" for frame in found["frame"]),
        tools=tuple(name for form in found["form"] if (name := form.get("toolname"))),
    )


def _is_page_title(title: Element) -> bool:
    """Return True if a title is not that of an SVG drawing."""
    *around, part, _ = (None, None, *(one.tag for one in title.iterancestors()))
    return part == "head" or (part == "body" and "svg" not in around)


def _relation(link: Element | Mapping[str, str]) -> str:
    """Return the relation of a link in lower case, and the type of a license (RSL 1.0) or of Markdown."""
    relation, kind = (link.get("rel") or "").lower(), (link.get("type") or "").lower()
    return f"{relation} {kind}" if kind in ("application/rsl+xml", "text/markdown") else relation


def _parse_metas(metas: Iterable[Element]) -> Iterator[tuple[str, str]]:
    for meta in metas:
        content, item = meta.get("content"), meta.get("itemprop")
        name = meta.get("property") or meta.get("name")
        if not name and item and content and not is_third_party(meta):
            name = item
        name = name or meta.get("http-equiv")
        if name and content:
            yield name.lower(), content


def find_base_url(root: Element, url: str) -> str:
    """Return the URL against which the URLs of a page are resolved."""
    for base in root.iter("base"):
        joined = join_url(url, base.get("href") or "")
        if joined.startswith(("http://", "https://")):
            return joined
    return url


def _merge_bodies(root: Element) -> Element:
    """Return all bodies merged into one, without the head. A set of frames is one."""
    for frameset in [] if root.find("body") is not None else list(root.iter("frameset")):
        frameset.tag = "body" if frameset.getparent() is root else "div"
    bodies = root.findall("body")
    if not bodies:
        return root
    for extra in bodies[1:]:
        bodies[0].extend(list(extra))
    return bodies[0]


def _remove_script_notes(body: Element) -> bool:
    """Remove `noscript` elements that are empty or notes. Return True if one asks for JavaScript."""
    texts = {element: text_of(element) for element in body.iter("noscript")}
    notes = {element for element, text in texts.items() if _is_script_note(text)}
    for element, text in texts.items():
        if element in notes or not text.strip():
            parsing.remove(element)
    return bool(notes)


def _is_script_note(text: str) -> bool:
    return len(text) < _MAX_NOTE and _SCRIPT_NOTE.search(text) is not None


def _replace_drawing(drawing: Element) -> None:
    """Replace a drawing by its labels or, amid a sentence, its name; a chart becomes a line for each of its texts."""
    has_text = bool(text_of(drawing).strip())
    labels = [text for one in (_SVG_TEXTS(drawing) if has_text else ()) if (text := " ".join(text_of(one).split()))]
    is_chart = len(labels) >= _MIN_LABELS
    is_read = is_chart or next(drawing.iterancestors("figure"), None) is not None or _is_word(drawing)
    named = [*map(text_of, _SVG_CAPTIONS(drawing)), drawing.get("aria-label") or ""] if is_read else []
    captions = list(dict.fromkeys(filter(None, (" ".join(one.split()) for one in named))))
    drawing.attrib.clear()
    del drawing[:]
    drawing.text = " ".join(labels or captions)[:_MAX_SVG_TEXT]
    if is_chart:
        drawing.tag = "figure"
        drawing.text, *others = "\n".join([*captions, *labels])[:_MAX_SVG_TEXT].split("\n")
        for line in others:
            etree.SubElement(drawing, "br").tail = line


def _is_word(drawing: Element) -> bool:
    """Return True if a drawing stands for a word: with text and a blank on both sides."""
    before, around = drawing.getprevious(), drawing.getparent()
    text = before.tail if before is not None else around.text if around is not None else ""
    is_amid = bool(text and text.strip() and text[-1:].isspace() and (drawing.tail or "").strip())
    return is_amid and drawing.get("aria-hidden") != "true"


def _needs_fallback(body: Element) -> bool:
    """Return True if the content is only in `noscript`, as in Discourse if its scripts reject the browser."""
    fallbacks = [text_of(element) for element in body.iter("noscript")]
    fallback_words = count_words(" ".join(fallbacks))
    note_words = count_words(" ".join(filter(_is_script_note, fallbacks)))
    if fallback_words - note_words < _FALLBACK_WORDS:
        return False
    return count_words(text_of(body)) - fallback_words < _FALLBACK_WORDS


def _insert_frames(root: Element, frames: Sequence[Frame]) -> int:
    """Insert the visible frames, also nested ones. Return the number of hidden elements removed from them."""
    by_mark = {frame.mark: frame for frame in frames[:_MAX_FRAMES]}
    removed = 0
    places = _MARKED_FRAMES(root)
    while places:
        place = places.pop()
        frame = by_mark.pop(place.get("data-x-frame") or "", None)
        inner = parsing.parse_html(frame.html).root if frame is not None else None
        if frame is None or inner is None:
            continue
        inline_shadow_roots(inner)
        formulas.normalize_formulas(inner)
        base = find_base_url(inner, frame.url)
        media_placeholders.resolve_lazy_media(inner, base)
        removed += hidden_elements.remove_marked(inner)
        places += _MARKED_FRAMES(inner)
        body = _merge_bodies(inner)
        for element in _WITH_URL(body):
            for name in ("href", "src", "data-src"):
                address = element.get(name)
                if address and not address.startswith("#"):
                    element.set(name, join_url(base, address))
        del place[:]
        place.tag = "div"
        place.text = body.text
        place.extend(list(body))
    return removed


_OWN_SLOTS = element_selector(".//slot[count(ancestor::template[@shadowrootmode]) = 1]")


def inline_shadow_roots(root: Element) -> None:
    """Replace the content of each shadow host by its shadow tree. Children without a slot are not displayed."""
    for template in [template for template in root.iter("template") if template.get("shadowrootmode") is not None]:
        host = template.getparent()
        if host is None:
            continue
        text = (host.text or "") + (template.tail or "")
        template.tail = None
        host.remove(template)
        slots = _OWN_SLOTS(template)
        text, assigned = _assign_slots(host, text)
        for slot in slots:
            name = slot.get("name") or ""
            children = assigned.pop(name, [])
            own_text = "" if name else text
            if children or own_text.strip():
                del slot[:]
                slot.text = own_text
                slot.extend(children)
                text = text if name else ""
        host.text = template.text
        host.extend(list(template))


def _assign_slots(host: Element, text: str) -> tuple[str, dict[str, list[Element]]]:
    """Empty the host. Return its text before the first child of the default slot, and its children by slot name."""
    assigned: dict[str, list[Element]] = {}
    for child in list(host):
        tail, child.tail = child.tail, None
        host.remove(child)
        name = child.get("slot") or ""
        assigned.setdefault(name, []).append(child)
        default = assigned.get("")
        if tail and default:
            default[-1].tail = (default[-1].tail or "") + tail
        elif tail:
            text += tail
    return text, assigned


THIRD_PARTY_PROPERTIES = frozenset(_NAMES["third_party_properties"].split())
"""Schema properties whose values are works of other people."""

THIRD_PARTY_LISTS = frozenset("blogPost blogPosts itemListElement".split())
"""Schema properties whose values are works of other people if there are several; a single one may be the page's own."""

_MAX_ANCESTORS = 30
_MAX_NAMES = 200
"""Characters of the property names that are examined."""


def is_third_party(element: Element) -> bool:
    """Return True if the microdata of an ancestor marks the element as a work of another person."""
    names = (one.get("itemprop") for one in islice(element.iterancestors(), _MAX_ANCESTORS))
    return any(name and not THIRD_PARTY_PROPERTIES.isdisjoint(name[:_MAX_NAMES].split()) for name in names)
