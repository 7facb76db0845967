"""Replace placeholders of lazy images by the images, and video players and frames without content by links."""

import re
from collections.abc import Set
from itertools import islice

from lxml import etree

from scraper.html.dom.parsing import (
    HEADINGS,
    TABLE_SECTIONS,
    Element,
    collect_names,
    find_by_class,
    pad_names,
    remove,
    text_of,
)
from scraper.html.dom.urls import find_image_source
from scraper.text.terms import compile_any_of
from scraper.urls import join_url
from scraper.values.text import read_table

VIDEO_TAG = "videolink"
"""Tag of the element that replaces a player. Its `href` is the page of the video."""

_MAX_MEDIA = 200
_MAX_ADDRESS = 2_000
_TABLE = read_table(__package__, "players.toml")
_ID = r"(?P<id>[\w-]{1,80})"
_PLAYERS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"https?://(?:www\.)?{player['pattern'].replace('{id}', _ID)}", re.IGNORECASE), player["page"])
    for player in _TABLE["players"]
)
_PLAYER_ELEMENTS: dict[str, tuple[str, str]] = {
    tag: (one["attribute"], one["page"]) for tag, one in _TABLE["elements"].items()
}
_VIDEO_ID = re.compile(r"[\w-]{1,80}")
_FORMULA = re.compile(r"math|tex(?![a-z])", re.IGNORECASE)


def resolve_lazy_media(root: Element, base: str, tags: Set[str] | None = None) -> None:
    """Insert the images of `noscript` elements, and turn the players of known sites into `VIDEO_TAG` elements.

    `tags` are at least all tags of the tree; they are collected if not given.
    """
    custom = [tag for tag in (collect_names(root).tags if tags is None else tags) if "-" in tag]
    for picture in list(root.iter(*custom)) if custom else ():
        has_source = picture.get("src") and (picture.get("alt") or picture.tag.startswith("amp-"))
        if has_source and next(picture.iterdescendants("img", "iframe", "video"), None) is None:
            picture.tag, picture.text = "img", None
            del picture[:]
    for fallback in list(islice(root.iter("noscript"), _MAX_MEDIA)):
        _replace_placeholder(fallback)
    for frame in list(islice(root.iter("iframe", *_PLAYER_ELEMENTS), _MAX_MEDIA)):
        url = _find_video_page(frame, base)
        if url:
            frame.set("href", url)
            frame.tag = VIDEO_TAG
            frame.attrib.pop("data-x-frame", "")  # its content belongs to the player
            del frame[:]
            frame.text = None
    for player in list(islice(root.iter("video", "audio"), _MAX_MEDIA)):
        _link_player(player)
    for drawing in root.iter("canvas"):  # its content describes it
        if next(drawing.iter("table", "ul", "ol", "dl"), None) is not None:
            drawing.tag = "div"


def _link_player(player: Element) -> None:
    """Turn a player with controls, or in a figure, into a link to its file; others are decoration."""
    sources = (one.get("src") or "" for one in (player, *player.iterchildren("source")))
    address = next((one for one in sources if one and not one.startswith(("blob:", "data:"))), "")
    is_content = player.get("controls") is not None or next(player.iterancestors("figure"), None) is not None
    if address and is_content:
        player.set("href", address[:_MAX_ADDRESS])
        player.set("title", player.get("title") or player.get("aria-label") or player.tag.capitalize())
        player.tag, player.text = VIDEO_TAG, None
        del player[:]


def _replace_placeholder(fallback: Element) -> None:
    pictures = list(fallback.iter("img"))
    if len(pictures) != 1 or text_of(fallback).strip():
        return
    picture = pictures[0]
    if _FORMULA.search(picture.get("class") or "") or not picture.get("src"):
        return
    before = fallback.getprevious()
    is_beside = before is not None and not (before.tail or "").strip()
    placeholder = next(before.iter("img"), None) if before is not None and is_beside else None
    source = "" if placeholder is None else find_image_source(placeholder)
    if placeholder is None:
        picture.tail = None
        fallback.addprevious(picture)
    elif not source or source.startswith("data:"):
        placeholder.set("src", picture.get("src", ""))
        if not (placeholder.get("alt") or "").strip():
            placeholder.set("alt", picture.get("alt") or "")
    remove(fallback)


def _find_video_page(frame: Element, base: str) -> str | None:
    lite = _PLAYER_ELEMENTS.get(frame.tag)
    if lite is not None:
        attribute, page = lite
        video = _VIDEO_ID.fullmatch(frame.get(attribute) or "")
        return page.format(id=video.group()) if video else None
    for name in ("src", "data-src", "data-lazy-src"):
        address = join_url(base, (frame.get(name) or "")[:_MAX_ADDRESS])
        for player, page in _PLAYERS:
            video = player.match(address)
            if video:
                return page.format(id=video["id"])
    return None


_MAX_FRAME_TITLE = 100


def link_embedded_documents(body: Element, base: str) -> None:
    """Add a paragraph with a link before each PDF that the page embeds."""
    for frame in list(islice(body.iter("embed", "object", "iframe"), _MAX_MEDIA)):
        address = (frame.get("src") or frame.get("data") or "").strip()[:_MAX_ADDRESS]
        url = join_url(base, address)
        name = url.partition("#")[0].partition("?")[0].rpartition("/")[2]
        is_pdf = frame.get("type") == "application/pdf" or name.lower().endswith(".pdf")
        is_inner = any(around.tag == "object" for around in frame.iterancestors())
        if not address or not url.startswith(("http://", "https://")) or not is_pdf or is_inner:
            continue
        paragraph = etree.Element("p")
        link = etree.SubElement(paragraph, "a", href=url)
        link.text = " ".join((frame.get("title") or name or "document").split())[:_MAX_FRAME_TITLE] + " (embedded PDF)"
        frame.addprevious(paragraph)


_PICTURES = "image img photo picture figure".split()
_CAPTION = compile_any_of(["caption", "gallerytext", *(rf"{one}[\w-]{{0,20}}(?:credit|desc)" for one in _PICTURES)])
_NO_CAPTION = HEADINGS | {"button", "form", "img", "figcaption", "table"}
_PARTS = TABLE_SECTIONS | {"table", "tr", "td", "th", "dl", "dt", "dd"}
_MAX_CLIMB, _MAX_CAPTION, _MAX_BESIDE = 4, 600, 40
"""Levels between a caption and its picture, characters of a caption, and of other text beside them."""


def form_figures(body: Element, classes: str) -> None:
    """Make captions that only class names declare `figcaption`, and the part with the picture a `figure`."""
    captions = [element for element in body.iter("figcaption") if next(element.iterancestors("figure"), None) is None]
    if _CAPTION.search(pad_names(classes)):
        captions += [element for element, _ in find_by_class(body, _CAPTION) if element.tag != "caption"]
    for caption in captions[:_MAX_MEDIA]:
        length = len(text_of(caption).strip())
        is_inner = next(caption.iterancestors("figcaption"), None) is not None
        if is_inner or not 0 < length <= _MAX_CAPTION or next(caption.iterdescendants(*_NO_CAPTION), None) is not None:
            continue
        for around in islice(caption.iterancestors(), _MAX_CLIMB):
            if len(text_of(around).strip()) > length + _MAX_BESIDE:
                break
            if around.tag not in ("tr", *TABLE_SECTIONS) and next(around.iterdescendants("img"), None) is not None:
                _form_figure(around, caption)
                break


def _form_figure(around: Element, caption: Element) -> None:
    for part in around.iter(*_PARTS):
        part.tag = "div"
    caption.tag = "figcaption"
    if "figure" not in (around.tag, *(outer.tag for outer in around.iterancestors())):
        figure = etree.Element("figure")
        figure.text, around.text = around.text, None
        figure.extend(list(around))
        around.append(figure)
