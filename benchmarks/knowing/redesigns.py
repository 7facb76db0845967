"""Measure recipes after a redesign: made ones of three degrees, and real ones; Scrapling beside ours.

The made redesigns change every page of a site in the same way, and no text that a reader sees. `names`: class names and
ids are others, and attributes with data are gone. `tags`: tags are others too, boxes are put around, and attributes of
the layout are gone. `moved`: large parts change their places too, and half of the tables consist of boxes. The key of
real redesigns is the share of right values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from lxml import etree, html

from benchmarks.common.command_line import Figures
from benchmarks.common.corpora import corpus_folder
from benchmarks.knowing.examples import FieldCounts, load_sites
from benchmarks.knowing.peers import PeerProcess
from benchmarks.knowing.records import saved_page
from scraper.facts.fields import extraction_recipes
from scraper.facts.fields.place_finder import ValuePlaceFinder
from scraper.html.dom.parsing import Element

DEGREES = ("names", "tags", "moved")
_REAL_FIELDS = ("title", "author", "yields", "first_ingredient", "first_step")
_PAGES = 3
"""Pages of a site on which the recipe is read."""
_LAYOUT = frozenset("align border bgcolor cellpadding cellspacing height itemprop style valign width".split())
_OTHER_TAGS = {"div": ("section", 0.3), "span": ("div", 0.2), "h2": ("h4", 0.5), "h3": ("h4", 0.5)} | dict.fromkeys(
    ("b", "i", "font"), ("span", 0.6)
)
"""Tag of an element after the redesign, and the share of elements that change."""
_BOXED = frozenset({"div", "section", "p", "ul", "table"})
_FIXED_CHILDREN = frozenset({"ul", "ol", "table", "tbody", "tr", "dl", "html"})
"""Parents whose children cannot be put into a box."""
_LARGE = frozenset({"div", "section", "table", "ul"})
_PARENTS_OF_PARTS = frozenset({"div", "section", "body", "td"})
_TABLE_PARTS = frozenset({"table", "tbody", "thead", "tr", "td", "th"})
_BOX_SHARE, _MOVE_SHARE, _TABLE_SHARE = 0.25, 0.4, 0.5


def redesign(source: str, degree: str, site: str) -> str:
    """Return a page after a redesign of its site; equal parts of all its pages change in the same way."""
    root = html.document_fromstring(source.encode("utf-8", "replace"), html.HTMLParser(encoding="utf-8"))
    elements = [one for one in root.iter() if isinstance(one.tag, str)]
    for element in elements:
        _rename(element, site)
    if degree in ("tags", "moved"):
        signatures = {element: _signature(element) for element in elements}
        for element in elements:
            _change_tag(element, f"{site} {signatures[element]}")
    if degree == "moved":
        for element in list(root.iter(*_PARENTS_OF_PARTS)):
            _move_parts(element, f"{site} {_signature(element)}")
        for table in list(root.iter("table")):
            if _draw(f"{site} table {table.get('class')}") < _TABLE_SHARE:
                _replace_table(table)
    changed: str = html.tostring(root, encoding="unicode", doctype="<!DOCTYPE html>")
    return changed


def _draw(key: str) -> float:
    """Return a number from 0 to 1 that depends on the key only."""
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) / 2**32


def _signature(element: Element) -> str:
    return "/".join(str(one.tag) for one in element.iterancestors()) + f" {element.tag} {element.get('class')}"


def _rename(element: Element, site: str) -> None:
    for name in ("class", "id"):
        if value := element.get(name):
            hashes = (hashlib.sha256(f"{site} {word}".encode()).hexdigest()[:6] for word in value.split())
            element.set(name, " ".join(f"x{one}" for one in hashes))
    for name in [one for one in map(str, element.attrib) if one.startswith("data-") or one == "itemprop"]:
        del element.attrib[name]


def _change_tag(element: Element, key: str) -> None:
    for name in _LAYOUT.intersection(element.attrib):
        # Hidden text stays hidden.
        if name != "style":
            del element.attrib[name]
    tag, share = _OTHER_TAGS.get(str(element.tag), ("", 0.0))
    if _draw(f"tag {key}") < share:
        element.tag = tag
    parent = element.getparent()
    if parent is None or parent.tag in _FIXED_CHILDREN or element.tag not in _BOXED:
        return
    if _draw(f"box {key}") < _BOX_SHARE:
        box = etree.SubElement(parent, "div", {"class": "x" + hashlib.sha256(key.encode()).hexdigest()[:6]})
        box.tail, element.tail = element.tail, None
        parent.replace(element, box)
        box.append(element)


def _move_parts(element: Element, key: str) -> None:
    """Put the last large part of an element before the first."""
    parts = [child for child in element if child.tag in _LARGE]
    if len(element) < 3 or len(parts) < 2 or _draw(f"move {key}") >= _MOVE_SHARE:
        return
    last = parts[-1]
    # The text after an element moves with it in lxml.
    before = last.getprevious()
    if last.tail and before is not None:
        before.tail, last.tail = (before.tail or "") + last.tail, None
    parts[0].addprevious(last)


def _replace_table(table: Element) -> None:
    for part in list(table.iter(*_TABLE_PARTS)):
        part.tag = "span" if part.tag == "td" and _draw(str(table.get("class"))) < _TABLE_SHARE else "div"


def measure(corpora: Path, peers: PeerProcess | None, *, quick: bool) -> Figures:
    """Return the figures `fields.redesign.*`."""
    ours = {degree: FieldCounts() for degree in (*DEGREES, "real")}
    scrapling = {degree: FieldCounts() for degree in ours}
    for site, files in list(load_sites(corpora).items())[:: 4 if quick else 1]:
        first, *others = sorted(files, key=lambda one: -sum(map(bool, one[1].values())))[: 1 + _PAGES]
        before = first[0].read_text(encoding="utf-8")
        example = {name: texts[0] for name, texts in first[1].items() if texts}
        for degree in DEGREES:
            pages = [redesign(file.read_text(encoding="utf-8"), degree, site) for file, _ in others]
            golds = [{name: gold[name] for name in example} for _, gold in others]
            _compare(before, example, site, pages, golds, ours[degree])
            if peers is not None:
                for found, gold in zip(peers.find_again(before, example, pages), golds, strict=True):
                    scrapling[degree].add(found, gold)
    for folder in sorted(path for path in corpus_folder(corpora, "knowing-redesign").iterdir() if path.is_dir()):
        _measure_real(folder, ours["real"], peers, scrapling["real"])
    return {
        f"fields.redesign.{name}{degree}.f1": one.share() if degree == "real" else one.f1()
        for name, counts in (("", ours), ("peers.scrapling.", scrapling if peers is not None else {}))
        for degree, one in counts.items()
    }


def _compare(
    before: str,
    example: Mapping[str, str],
    site: str,
    pages: Sequence[str],
    golds: Sequence[Mapping[str, Sequence[str]]],
    counts: FieldCounts,
) -> None:
    recipe, _ = extraction_recipes.learn(ValuePlaceFinder(saved_page(before)), example, site)
    for page, gold in zip(pages, golds, strict=True):
        found = extraction_recipes.read(recipe, ValuePlaceFinder(saved_page(page)), site).values
        counts.add({name: value for name, (value, _) in found.items()}, gold)


def _measure_real(folder: Path, counts: FieldCounts, peers: PeerProcess | None, scrapling: FieldCounts) -> None:
    """Read one page before and after its site was redesigned; fields that either page lacks do not count."""
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    sources = {name: (folder / f"{name}.html").read_text(encoding="utf-8") for name in ("before", "after")}
    finders = {name: ValuePlaceFinder(saved_page(source)) for name, source in sources.items()}
    both = [name for name in _REAL_FIELDS if name in gold["before"] and name in gold["after"]]
    fields = [
        name for name in both if all(extraction_recipes.locate(one, gold[at][name][0]) for at, one in finders.items())
    ]
    # The recipe is learned from all fields of the page before.
    example = {name: gold["before"][name][0] for name in _REAL_FIELDS if name in gold["before"]}
    wanted = {name: gold["after"][name][:1] for name in fields}
    _compare(sources["before"], example, folder.name, [sources["after"]], [wanted], counts)
    if peers is not None:
        scrapling.add(peers.find_again(sources["before"], example, [sources["after"]])[0], wanted)
