"""Check that what stands together on a page is written together: both sides of a pair, all parts of a group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.integrity.case import Case, Violation, files_of, joined
from benchmarks.integrity.dom import Element
from benchmarks.integrity.visible import HEADINGS, Unit, squash
from benchmarks.integrity.words import CONTROLS, DISCUSSION, FIGURE_CLASSES, TEASERS

Pair = tuple[str, list[Unit], list[Unit]]
"""Name of the invariant and the two sides."""

_COLONS = (":", "\uff1a")
_LISTS = ("ul", "ol", "dl", "table", "pre", "blockquote")
_ITEMS = ("li", "dd", "blockquote")
_MAX_PARTS = 8
"""Parts of an item. More are a page of its own."""
_MAX_CELL_UNITS = 6
"""Units in a cell of data. More are a layout."""
_NOTE_LABEL = re.compile(r"[\[(]?\d{1,3}[\])]?|[*\u2020\u2021]")
_NOTE_TARGET = re.compile(r"note|fn|cite|ref|bib|^#\w?\d{1,3}$", re.IGNORECASE)


def _texts(case: Case, elements: Sequence[Element]) -> list[Unit]:
    return [unit for element in elements for unit in case.units_in(element)]


def check_pairs(case: Case) -> Iterator[Violation]:
    """Check that both sides of a pair are written, or neither."""
    sources = (_captions, _introductions) if case.has_posts else (_captions, _introductions, _terms, _labels)
    for source in sources:
        for name, left, right in source(case):
            states = case.state(left), case.state(right)
            if "unknown" in states or "present" not in states:
                continue
            case.examined[name] += 1
            if states[0] == "absent":
                yield Violation(f"{name}.first", joined(left), f"kept: {joined(right)}")
            elif states[1] == "absent":
                yield Violation(f"{name}.second", joined(right), f"kept: {joined(left)}")


def _terms(case: Case) -> Iterator[Pair]:
    """Yield terms with their descriptions, without tables of contents."""
    for listing in case.page.root.iter("dl"):
        parts = [part for child in listing.elements for part in (child.elements if child.tag == "div" else [child])]
        groups: list[tuple[list[Element], list[Element]]] = []
        for part in parts:
            if part.tag == "dt":
                if not groups or groups[-1][1]:
                    groups.append(([], []))
                groups[-1][0].append(part)
            elif part.tag == "dd" and groups:
                groups[-1][1].append(part)
        for terms, values in groups:
            left, right = _texts(case, terms), _texts(case, values)
            if not all(unit.link_share > 0.8 for unit in (*left, *right)):
                yield "pair.term", left, right


def _labels(case: Case) -> Iterator[Pair]:
    """Yield labels that end with a colon, with the value in the element behind."""
    for parent in case.page.within:
        if parent.tag in ("dl", "tr", "table", "tbody", "ul", "ol"):
            continue
        parts = [part for part in parent.elements if case.units_in(part)]
        if len(parts) != 2 or any(part.tag in ("table", "ul", "ol", "dl", "p") for part in parts):
            continue
        left, right = map(case.units_in, parts)
        if len(left) != 1 or len(right) != 1 or left[0] is right[0] or len(left[0].tokens) > 6:
            continue
        if left[0].needed_text.endswith(_COLONS) and not CONTROLS.fullmatch(right[0].needed_text.strip(" .\u2026")):
            yield "pair.label", left, right


def _captions(case: Case) -> Iterator[Pair]:
    """Yield captions with the cells of their tables."""
    for table, rows in _data_tables(case):
        for caption in table.elements:
            if caption.tag == "caption":
                yield "pair.caption", case.units_in(caption), [unit for row in rows for unit in _texts(case, row)]


def _introductions(case: Case) -> Iterator[Pair]:
    """Yield lines that end with a colon, with the list, table or code behind."""
    for unit in case.page.units:
        if len(unit.tokens) < 3 or unit.is_optional or not unit.needed_text.endswith(_COLONS):
            continue
        if unit.block.tag in (*_ITEMS, "td", "dt", "th"):
            behind = next((one for one in unit.block.elements if one.tag in _LISTS and case.units_in(one)), None)
        else:
            behind = _unwrapped(case, case.siblings(unit.block)[1])
        units = [] if behind is None else [other for other in case.units_in(behind) if other is not unit]
        if units and sum(other.link_share > 0.8 for other in units) <= 0.7 * len(units):
            yield "pair.intro", [unit], units


def _unwrapped(case: Case, element: Element | None) -> Element | None:
    """Return the list, table or code in a wrapper that holds nothing else."""
    while element is not None and element.tag in ("div", "section", "figure"):
        inner = [one for one in element.elements if case.units_in(one)]
        element = inner[0] if len(inner) == 1 else None
    return element if element is not None and element.tag in _LISTS else None


def _data_tables(case: Case) -> Iterator[tuple[Element, list[list[Element]]]]:
    """Yield tables of data with their rows of cells: at least two rows with two short cells, no table in a table."""
    for table in case.page.root.iter("table"):
        if table.get("role") == "presentation" or len(list(table.iter("table"))) > 1:
            continue
        rows = []
        for part in table.elements:
            lines = [part] if part.tag == "tr" else part.elements if part.tag in ("thead", "tbody", "tfoot") else []
            rows += [[cell for cell in line.elements if cell.tag in ("td", "th")] for line in lines if line.tag == "tr"]
        is_data = sum(len(row) >= 2 for row in rows) >= 2 and not any(one.tag == "table" for one in table.ancestors())
        if is_data and all(len(case.units_in(cell)) <= _MAX_CELL_UNITS for row in rows for cell in row):
            yield table, rows


def check_tables(case: Case) -> Iterator[Violation]:
    """Check that tables have all their rows and cells, and each value below the head of its column."""
    for _, rows in _data_tables(case):
        texts = [_texts(case, row) for row in rows]
        states = [case.state(units) for units in texts]
        if states.count("present") < 2:
            continue  # single values may be written for another place
        case.examined["pair.rows"] += 1
        lost = next((units for units, state in zip(texts, states, strict=True) if state == "absent"), None)
        if lost is not None:
            yield Violation("pair.rows", joined(lost), f"{states.count('present')} of {len(rows)} rows are present")
        for units, state in zip(texts, states, strict=True):
            cells = [unit for unit in units if case.state([unit]) == "absent"]
            if state == "mixed" and cells:
                yield Violation("pair.cells", joined(cells), joined(units))
                break
        yield from _check_columns(case, rows)


def _check_columns(case: Case, rows: Sequence[Sequence[Element]]) -> Iterator[Violation]:
    spans = {cell.get(name) for row in rows for cell in row for name in ("rowspan", "colspan")}
    if spans - {"", "1"} or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return
    shifts = list(_shifts(case, rows))
    if shifts:
        case.examined["pair.column"] += 1
        usual = Counter(shift for shift, _ in shifts).most_common(1)[0][0]
        wrong = [text for shift, text in shifts if shift != usual]
        if wrong:
            yield Violation("pair.column", " | ".join(wrong[:4]), f"{len(wrong)} of {len(shifts)} cells")


def _shifts(case: Case, rows: Sequence[Sequence[Element]]) -> Iterator[tuple[int, str]]:
    """Yield each text that stands in one cell only, with the columns by which it is shifted in the output."""
    times = Counter(squash(cell.text()) for row in rows for cell in row)
    for row in rows:
        for column, cell in enumerate(row):
            units = case.units_in(cell)
            if len(units) == 1 and len(units[0].squashed) >= 5 and times[squash(cell.text())] == 1:
                block = case.block_of(units[0])
                if block is not None and block.cell and squash(block.text) == units[0].squashed:
                    yield block.cell[1] - column, units[0].needed_text


def _figures(case: Case) -> Iterator[tuple[Element, list[Element], list[Unit]]]:
    """Yield figures with their images and the units of their captions."""
    for figure in case.page.root.iter("figure", "div"):
        if figure.tag == "div" and not FIGURE_CLASSES.search(figure.get("class")):
            continue
        if figure.has("table", "pre", "iframe", "video") or any(one is not figure for one in figure.iter("figure")):
            continue
        images = [one for one in figure.iter("img", "a-img", "amp-img") if not _is_tiny(one)]
        captions = [
            one
            for one in figure.iter()
            if one.tag == "figcaption" or (one is not figure and "caption" in one.get("class").lower())
        ]
        if images:
            units = next(filter(None, map(case.units_in, captions)), [])
            yield figure, images, [unit for unit in units if len(unit.tokens) >= 3]


def _is_tiny(image: Element) -> bool:
    width = image.get("width").removesuffix("px")
    return width.isdecimal() and int(width) < 50


def check_figures(case: Case) -> Iterator[Violation]:
    """Check that an image and its caption are both written or neither, and a figure between written blocks is."""
    for figure, images, caption in _figures(case):
        state = case.state(caption)
        shown = _written_images(case, images, elsewhere=state != "absent")
        if state == "present":
            case.examined["pair.figure"] += 1
            if not shown:
                described = any(len(image.get("alt").split()) >= 2 for image in images)
                name = "pair.figure.image" if described else "pair.figure.image-undescribed"
                yield Violation(name, images[0].get("alt") or images[0].get("src")[:100], joined(caption))
        elif shown and state == "unknown":
            case.examined["amid.figure"] += 1
        elif shown:
            case.examined["pair.figure"] += 1
            if state == "absent":
                yield Violation("pair.figure.caption", joined(caption), images[0].get("alt"))
        elif state == "absent":
            before, behind = _around(case, figure)
            if _is_written_text(case, before) and _is_written_text(case, behind):
                case.examined["amid.figure"] += 1
                yield Violation("amid.figure", joined(caption), f"{joined(before)[-90:]} ### {joined(behind)[:90]}")


def _written_images(case: Case, images: Sequence[Element], *, elsewhere: bool) -> list[Element]:
    """Return the images that the output has; without `elsewhere`, only those that the page shows nowhere else."""
    written = [image for image in images if "hidden" not in image.attrs and case.is_written(image)]
    if elsewhere or not written:
        return written
    others = [files_of(one) for one in case.page.root.iter("img") if not any(one is own for own in images)]
    return [image for image in written if not files_of(image) & set().union(*others)]


def _is_written_text(case: Case, units: Sequence[Unit]) -> bool:
    return case.state(units) == "present" and len(joined(units)) >= 60


def _around(case: Case, element: Element) -> tuple[list[Unit], list[Unit]]:
    """Return the units before and behind an element, or a wrapper that holds only it."""
    for node, _ in zip(element.lineage(), range(3), strict=False):
        if len(case.units_in(node)) > len(case.units_in(element)):
            break
        before, behind = case.siblings(node)
        if before is not None or behind is not None:
            return _texts(case, [before] if before else []), _texts(case, [behind] if behind else [])
    return [], []


def check_items(case: Case) -> Iterator[Violation]:
    """Check that the parts of an item, description or quotation are all written, or none."""
    for item in case.page.root.iter(*_ITEMS) if not case.has_posts else ():
        units = [
            unit
            for unit in case.units_in(item)
            if unit.inside(*_ITEMS, "td", "figure", "nav", "pre", "dt") is item and len(unit.tokens) >= 3
        ]
        if len(units) > _MAX_PARTS or any(one.tag in ("nav", "header", "footer", "aside") for one in item.ancestors()):
            continue
        kept = [unit for unit in units if case.found[unit.number].is_present]
        if kept and len(case.units_in(item)) > 1:
            case.examined["pair.item"] += 1
            lost = [unit for unit in units if _is_lost_part(case, item, unit)]
            if lost:
                yield Violation("pair.item", joined(lost), f"kept: {joined(kept)}")


def _is_lost_part(case: Case, item: Element, unit: Unit) -> bool:
    if case.found[unit.number].status != "absent" or unit.is_optional or unit.link_share >= 0.5:
        return False
    if sum(word.isalpha() and len(word) > 1 for word in unit.tokens) < 3 or TEASERS.match(unit.needed_text):
        return False
    return not any("button" in piece.flags for piece in unit.pieces) and not _is_choice(case, item, unit)


def _is_choice(case: Case, item: Element, unit: Unit) -> bool:
    """Return True if similar items lack this part too: the reader chose the parts of cards."""
    brothers = [one for one in item.parent.elements if one.tag == item.tag and one is not item] if item.parent else []
    shape = _shape(unit, item)
    like = [other for one in brothers for other in case.units_in(one) if _shape(other, one) == shape]
    return len(brothers) >= 2 and not any(case.found[other.number].is_present for other in like)


def _shape(unit: Unit, item: Element) -> list[str]:
    names = []
    for node in unit.block.lineage():
        if node is item:
            break
        names.append(f"{node.tag} {node.get('class')}")
    return names


def check_headings(case: Case) -> Iterator[Violation]:
    """Check that a heading has text of its section, and a written section its heading."""
    for heading, units, section in _sections(case):
        words = sum(len(unit.tokens) for unit in section)
        if words < 5 or sum(len(unit.tokens) * unit.link_share for unit in section) > 0.5 * words:
            continue
        states = case.state(units), case.state(section)
        if states[0] == "present" and states[1] != "unknown":
            case.examined["pair.heading"] += 1
            if states[1] == "absent" and words >= 15 and not _is_item_name(heading):
                yield Violation("pair.heading.empty", joined(units), joined(section))
        elif states == ("absent", "present") and words >= 15 and not DISCUSSION.search(joined(units)):
            case.examined["pair.heading"] += 1
            yield Violation("pair.heading.lost", joined(units), joined(section))


def _sections(case: Case) -> Iterator[tuple[Element, list[Unit], list[Unit]]]:
    """Yield headings with their units and those of their sections, without the title and names of other pages."""
    for heading in case.page.root.iter(*HEADINGS[1:]):
        units = [unit for unit in case.units_in(heading) if not unit.is_optional]
        if all(map(_leads_away, units)) or squash(heading.text()) in squash(case.title):
            continue
        if not any(one.tag in ("nav", "aside", "footer") for one in heading.ancestors()):
            yield heading, units, [unit for unit in _section(case, heading) if not unit.is_optional]


def _leads_away(unit: Unit) -> bool:
    """Return True if a unit is a link to another page."""
    links = [element for piece in unit.pieces for element in piece.lineage if element.tag == "a"]
    return unit.link_share > 0.8 and not all(link.get("href").startswith("#") for link in links)


def _section(case: Case, heading: Element) -> list[Unit]:
    """Return the units behind a heading, up to the next one, in its parent or in a parent that begins with it."""
    for node, _ in zip(heading.lineage(), range(3), strict=False):
        if node.parent is None or len(case.units_in(node)) > len(case.units_in(heading)):
            break
        found: list[Unit] = []
        for one in node.parent.elements[node.parent.elements.index(node) + 1 :]:
            if one.has(*HEADINGS):
                break
            found += case.units_in(one)
        if found:
            return found
    return []


def _is_item_name(heading: Element) -> bool:
    """Return True for the name of an item in a list of at least four with pictures that look alike."""
    for node, _ in zip(heading.ancestors(), range(5), strict=False):
        brothers = node.parent.elements if node.parent is not None else []
        like = [one for one in brothers if one.tag == node.tag and one.classes == node.classes]
        if len(like) >= 4 and (node.tag == "li" or node.classes):
            return len(node.text()) < 600 and node.has("img")
    return False


def check_notes(case: Case) -> Iterator[Violation]:
    """Check that the mark of a footnote and its note are both written, or neither."""
    by_id = {element.get("id"): element for element in case.page.root.iter() if element.get("id")}
    for one in case.found:
        if not one.is_present or one.unit.is_optional:
            continue
        block = case.block_of(one.unit)
        for label, target in _note_links(one.unit):
            note = case.units_in(by_id[target]) if target in by_id else []
            units = [unit for unit in note if len(unit.squashed) > 4]
            if not 1 <= len(units) <= 6 or any(unit.number <= one.unit.number for unit in units):
                continue
            case.examined["pair.note"] += 1
            is_marked = block is not None and (label in map(squash, block.notes) or label in block.tokens)
            state = case.state(units)
            if is_marked and state == "absent":
                yield Violation("pair.note.note", joined(units), joined([one.unit]))
            elif not is_marked and state == "present":
                yield Violation("pair.note.mark", label, joined([one.unit]))


def _note_links(unit: Unit) -> Iterator[tuple[str, str]]:
    """Yield the label and the target of each mark of a footnote."""
    for piece in unit.pieces:
        link = next((element for element in piece.lineage if element.tag == "a"), None)
        target = link.get("href") if link is not None else ""
        if link is None or not target.startswith("#") or not _NOTE_LABEL.fullmatch(link.text().strip()):
            continue
        if "sup" in piece.flags or _NOTE_TARGET.search(target):
            yield squash(link.text()), target[1:]
