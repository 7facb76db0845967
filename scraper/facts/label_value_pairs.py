"""Read a page into labels with their values: in tables, definition lists, rows of boxes and lines of text."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from lxml import etree

from scraper.facts.data_tables import CONTROLS, DataTable, TextOf, has_control, read_tables, text_or_picture
from scraper.html.dom.parsing import HEADINGS, INLINE, UNREADABLE, Element, text_of
from scraper.text.sanitize import name_key
from scraper.words.matcher import Words

LABEL_TAGS = HEADINGS | {"th", "dt", "strong", "b", "label"}
MAX_LABEL = 45
"""Characters of a label."""
_MAX_ELEMENTS = 30_000
_MAX_VALUE = 300
_MAX_PRODUCT_VALUE = 60
"""Characters of a value of `LabeledValueFinder`."""
_MAX_LINES = 4
"""Lines after a label that are searched for its value; those before it have only marks."""
_MAX_CLIMB = 4
"""Elements from a label up to the one that contains its value too."""
_SKIPPED = UNREADABLE | CONTROLS | {"option", "noscript"}
_INLINE_LABEL = re.compile(
    r"([^:：#]{1,45}?)\s*(?:[:：](?!//)\s*|\s[–—]\s(?=.{1,60}\Z)|#[:：]?\s*(?=\S+\Z))(.*)", re.DOTALL
)
_NEXT_LABEL = re.compile(r"\s+(?=[^\W\d_][\w-]*[:：]\s)")
"""Space before the next label in a text of several labels and values."""
_NUMBER = re.compile(r"#\d[\w.-]*")
"""A number such as `#41`, whose label is its sign."""
_EDGES = " \u200e\u200f\n\t\r\xa0"
_MARKS = (":", "：", " –", " —")
_MIN_CONTEXT = 2
"""Letters and digits of a header that is compared with the title of the page."""


@dataclass(frozen=True, slots=True)
class LabelValue:
    """A label with its value."""

    label: str
    value: str
    """Text of the value; empty if its place on the page is empty."""
    element: Element
    """Element that contains the value."""
    weight: float = 1.0
    """How sure the two belong together, from 0 to 1."""
    is_inline: bool = False
    """True if both are in one text."""


@dataclass(slots=True)
class _Line:
    """Texts between two blocks, each with its element; None stands for a line break."""

    owner: Element
    pieces: list[tuple[str, Element] | None] = field(default_factory=list)
    is_box: bool = False
    """True if the line is the whole content of its owner."""
    has_control: bool = False


@dataclass(slots=True)
class _Label:
    text: str
    element: Element
    is_marked: bool
    """True if a colon or its tag says that it is a label."""


_Group: TypeAlias = tuple[_Label, list[tuple[str, Element]]]


def read_pairs(
    body: Element, *, text: TextOf | None = None, title: str = "", is_requested: Callable[[str], bool] | None = None
) -> Iterator[LabelValue]:
    """Yield the labels of a page with their values, in page order, those of tables first.

    Of a table that compares several things, only the values of the one that `title` names are returned, if any.
    """
    pages = _PairReader(body, text or (lambda one: " ".join(text_of(one).split())), is_requested or bool)
    for table in read_tables(body, pages.text):
        yield from pages.read_table(table, name_key(title))
    yield from pages.read_lines()


class _PairReader:
    def __init__(self, body: Element, text: TextOf, is_requested: Callable[[str], bool]) -> None:
        self.text = text
        self._is_requested = is_requested
        self._lines = _read_lines(body)
        self._cells: set[Element] = set()
        """Cells of tables whose labels are known."""

    def read_table(self, table: DataTable, title: str) -> Iterator[LabelValue]:
        """Yield each cell with its column header and with the label of its row."""
        headers = [_as_label(header) for header in table.headers]
        names = headers or list(map(self.text, table.rows[0][1]))
        # Without headers, the cells at odd places may be values of labels before them.
        columns = {at for at in _find_named(names, title) if at and (headers or len(names) % 2 or at % 2 == 0)}
        firsts = [self.text(cells[0]) for _, cells in table.rows]
        rows = _find_named(firsts, title) or set(range(len(firsts)))
        for at, (_, cells) in enumerate(table.rows):
            self._cells.update(cells)
            for header, cell in zip(headers if at in rows else (), cells, strict=False):
                yield from self._pair(header, cell, 1.0)
            if table.has_row_labels or columns:
                yield from self._row_pairs(cells, columns, has_headers=bool(headers or columns))

    def _row_pairs(self, cells: Sequence[Element], columns: Set[int], *, has_headers: bool) -> Iterator[LabelValue]:
        """Yield the cells of a row with the header cell before them, else with the first cell."""
        label_at = 0
        for at, cell in enumerate(cells):
            if at and cell.tag == "th" and not has_headers:
                label_at = at
            elif at > label_at and (not columns or at in columns):
                distance = 0 if has_headers else at - label_at - 1
                yield from self._pair(_as_label(self.text(cells[label_at])), cell, (1.0, 0.6, 0.4)[min(2, distance)])

    def _pair(self, label: str, element: Element, weight: float) -> Iterator[LabelValue]:
        if label and self._is_requested(label):
            value = text_or_picture(element, self.text)
            if value or not has_control(element):
                yield LabelValue(label, value[:_MAX_VALUE], element, weight)

    def read_lines(self) -> Iterator[LabelValue]:
        """Yield the labels of all lines, each with the value behind it or in the next lines."""
        for at, line in enumerate(self._lines):
            labels = _split_line(line)
            for label, parts in labels:
                if before := self._find_before(labels, at):
                    yield before
                if not label.text or not self._is_requested(label.text) or (before and not parts):
                    continue
                if parts:
                    weight = 1.0 if label.is_marked else 0.9
                    yield from _join(label.text, parts, line.owner, weight, is_inline=label.is_marked)
                elif label is not labels[-1][0]:
                    yield LabelValue(label.text, "", line.owner)
                else:
                    yield from self._find_below(label, at)

    def _find_below(self, label: _Label, at: int) -> list[LabelValue]:
        """Return the label with the text of a later line, or without a value if its place is empty."""
        owner = self._lines[at].owner
        is_repeated = _is_repeated(owner)
        has_place = is_repeated or (label.is_marked and owner.tag not in HEADINGS)
        empty = [LabelValue(label.text, "", owner)] if has_place else []
        if label.is_marked and at > 0 and _has_value_inside(self._lines[at - 1], owner):
            return empty
        around = self._climb_to_cell(owner)
        for line in self._lines[at + 1 : at + 1 + _MAX_LINES]:
            path = [line.owner, *line.owner.iterancestors()]
            common = next((number for number, one in enumerate(around) if one in path), None)
            if common is None or _begins_record(label, around[:common], line, path[: path.index(around[common])]):
                break
            parts = self._texts_or_picture(line)
            if line.has_control or any(name_key(text) for text, _ in parts):
                certainty = 1.0 if label.is_marked or is_repeated else 0.7
                weight = certainty * (1.0, 1.0, 0.9, 0.7, 0.5)[common]
                return list(_join(label.text, parts, line.owner, weight))
            if has_place and not parts:
                break
        return empty

    def _find_before(self, groups: Sequence[_Group], at: int) -> LabelValue | None:
        """Return the second of two texts in one of several equal boxes as the label of the first."""
        (first, parts), line = groups[0], self._lines[at]
        box, value, label = line.owner, first, parts[0][0] if parts else first.text
        is_requested = len(groups) == 1 and self._is_requested(label)
        before = _split_line(self._lines[at - 1]) if is_requested and at and not parts else []
        if not is_requested or not (parts or (len(before) == 1 and not before[0][1])):
            return None
        if before:
            above = {self._lines[at - 1].owner, *self._lines[at - 1].owner.iterancestors()}
            box = next((one for one in islice(line.owner.iterancestors(), 2) if one in above), box)
            value = before[0][0]
        beside = [one for one in (box.getprevious(), box.getnext()) if one is not None and len(one) == len(box)]
        is_repeated = any(_is_alike(one, box) for one in beside)
        is_whole = is_repeated and name_key(text_of(box)) == name_key(value.text + label)
        return LabelValue(label, value.text, value.element, 0.9) if is_whole and value.text else None

    def _climb_to_cell(self, owner: Element) -> list[Element]:
        around = [owner, *islice(owner.iterancestors(), _MAX_CLIMB)]
        return around[: next((count for count, one in enumerate(around, 1) if one in self._cells), len(around))]

    def _texts_or_picture(self, line: _Line) -> list[tuple[str, Element]]:
        picture = "" if line.pieces or not line.is_box else text_or_picture(line.owner, self.text)
        return [(picture, line.owner)] if picture else [piece for piece in line.pieces if piece]


def _has_value_inside(before: _Line, owner: Element) -> bool:
    """Return True if the line before is a marked label with its value, in an element like that of the next label."""
    if before.owner.getparent() is not owner.getparent() or not _is_alike(before.owner, owner):
        return False
    groups = _split_line(before)
    return any(label.is_marked and parts for label, parts in groups[:1])


def _begins_record(label: _Label, around: Sequence[Element], line: _Line, path: Sequence[Element]) -> bool:
    """Return True if a line is the next label, or begins the next record; both paths end below the same parent."""
    if not (around and path):
        return False
    owner = around[0]
    if owner.tag == "dt":
        return not any(one.tag == "dd" for one in path)
    if not _is_alike(line.owner, owner):
        return False
    if label.is_marked:
        return any(following.is_marked for following, _ in _split_line(line)[:1])
    if len(around) == len(path) == 1:
        return bool(owner.get("class")) and any(not _is_alike(one, owner) for one in owner.itersiblings())
    return _is_alike(around[-1], path[-1]) and len(path[-1]) > 1


def _is_repeated(element: Element) -> bool:
    """Return True if an element begins one of several boxes of the same shape, or is one of several with its class."""
    box = element.getparent()
    if box is None:
        return False
    if element.get("class") and any(one is not element and _is_alike(one, element) for one in islice(box, 100)):
        return True
    beside = [one for one in (box.getprevious(), box.getnext()) if one is not None and _is_alike(one, box)]
    return box[0] is element and len(box) > 1 and any(len(one) > 1 and _is_alike(one[0], element) for one in beside)


def _is_alike(one: Element, other: Element) -> bool:
    return one.tag == other.tag and one.get("class") == other.get("class")


def _read_lines(body: Element) -> list[_Line]:
    lines = [_Line(body)]
    blocks: list[Element] = [body]
    walker = etree.iterwalk(body, events=("start", "end"))
    count = 0
    for event, element in walker:
        tag = element.tag
        if event == "start":
            count += 1
            if not isinstance(tag, str) or tag in _SKIPPED or count > _MAX_ELEMENTS:
                lines[-1].has_control |= tag in CONTROLS
                walker.skip_subtree()
                continue
            if tag not in INLINE and element is not body:
                lines[-1].is_box &= lines[-1].owner is not blocks[-1]
                blocks.append(element)
                lines.append(_Line(element, is_box=True))
            _add(lines[-1], element.text, element)
            if tag == "br":
                lines[-1].pieces.append(None)
            continue
        if element is body:
            break
        if element is blocks[-1]:
            blocks.pop()
            if lines[-1].owner is not blocks[-1]:
                lines.append(_Line(blocks[-1]))
        _add(lines[-1], element.tail, element.getparent())
    return [line for line in lines if line.pieces or line.has_control or line.is_box]


def _add(line: _Line, text: str | None, element: Element | None) -> None:
    if text and element is not None and (clean := " ".join(text.split()).strip(_EDGES)):
        line.pieces.append((clean, element))


def _split_line(line: _Line) -> list[_Group]:
    """Return each label of a line with the texts behind it; texts before the first label have an empty one."""
    groups: list[_Group] = [(_Label("", line.owner, False), [])]
    for piece, following in zip(line.pieces, [*line.pieces[1:], None], strict=False):
        label, parts = groups[-1]
        if piece is None:
            groups += [(_Label("", line.owner, False), [])] if parts else []
            continue
        text, element = piece
        begins_alike = _is_alike(element, label.element)
        begins = not label.text or bool(parts) or begins_alike
        if begins and (marked := _marked_labels(text, element, following)):
            groups += marked
        elif (parts or len(groups) > 1) and label.element is not element and element.get("class") and begins_alike:
            groups.append((_Label(_as_label(text), element, False), []))
        elif not (label.text or parts) and len(text) <= MAX_LABEL:
            tags = {element.tag, line.owner.tag}
            groups[-1] = _Label(_as_label(text), element, not tags.isdisjoint(LABEL_TAGS)), parts
        elif clean := text.lstrip(":：").strip(_EDGES):
            parts.append((clean, element))
    return [one for one in groups if one[0].text or one[1]]


def _marked_labels(text: str, element: Element, following: tuple[str, Element] | None) -> list[_Group]:
    """Return the labels of a text that have a colon, in it or at the beginning of the following text."""
    if _NUMBER.fullmatch(text):
        return [(_Label("#", element, True), [(text, element)])]
    if text.endswith(_MARKS) or (following and following[0].startswith(_MARKS[:2])):
        label = _as_label(text)
        return [(_Label(label, element, True), [])] if label else []
    return [(_Label(label, element, True), [(value, element)]) for label, value in _split_inline(text)]


def _split_inline(text: str) -> list[tuple[str, str]]:
    """Return the labels and values of a text such as "Author: Ada Publisher: Pier"; nothing for any other text."""
    found: list[tuple[str, str]] = []
    first = _INLINE_LABEL.fullmatch(text[:_MAX_VALUE])
    parts = _NEXT_LABEL.split(first[2]) if first else []
    for part in [text[: first.start(2)] + parts[0], *parts[1:]] if first else []:
        match = _INLINE_LABEL.fullmatch(part)
        if match is None or not match[2]:
            return []
        label = f"{match[1]} #" if part[match.end(1) :].lstrip().startswith("#") else match[1]
        found.append((label.strip(_EDGES), match[2].strip(_EDGES)))
    return found


def _join(
    label: str, parts: Sequence[tuple[str, Element]], owner: Element, weight: float, *, is_inline: bool = False
) -> Iterator[LabelValue]:
    """Yield a label with all texts of its value, and with the first one of several."""
    text = parts[0][0] if parts else ""
    # Links between bars are values of their own, such as genres.
    are_links = len(parts) > 1 and parts[0][1].tag == "a" and parts[1][0] == "|"
    for part, _ in () if are_links else parts[1:]:
        text += part if part[0] in ".,;:!?)]%" or text[-1] in "([$€£¥#" else f" {part}"
    if name_key(text) and len(text) <= _MAX_VALUE:
        yield LabelValue(label, text, parts[0][1] if len(parts) == 1 else owner, weight, is_inline)
    if len(parts) > 1 and name_key(parts[0][0]):
        yield LabelValue(label, parts[0][0][:_MAX_VALUE], parts[0][1], weight, is_inline)


def _as_label(text: str) -> str:
    label = text.rstrip(":：–—" + _EDGES)
    return label if len(label) <= MAX_LABEL else ""


def _find_named(texts: Sequence[str], title: str) -> set[int]:
    """Return the places of the texts that a title contains, without those that are part of another one of them."""
    keys = {at: key for at, key in enumerate(map(name_key, texts)) if len(key) >= _MIN_CONTEXT and key in title}
    return {at for at, key in keys.items() if not any(key in other and key != other for other in keys.values())}


class LabeledValueFinder:
    """Find the values that a page shows with any of several labels."""

    def __init__(self, topic: str, names: str) -> None:
        """Name the lists of labels in a topic of `scraper.words`, separated by spaces."""
        self._labels = {name: Words(f"{topic}.{name}") for name in names.split()}

    def find(self, body: Element) -> dict[str, str]:
        """Return the first value of each label by its list; lists without a value are missing."""
        found: dict[str, str] = {}
        for pair in read_pairs(body, is_requested=lambda label: bool(self._find_lists(label))):
            value = pair.value.strip(" #-–")
            if 0 < len(value) < _MAX_PRODUCT_VALUE:
                found = dict.fromkeys(self._find_lists(pair.label), value) | found
        return found

    def _find_lists(self, label: str) -> list[str]:
        """Return the lists with a label; `#` stands for "no"."""
        name = label.strip(" #-–").removesuffix(".").lower().replace("’", "'")
        labels = {name, f"{name} no"} if label.endswith("#") else {name}
        return [name for name, words in self._labels.items() if not labels.isdisjoint(words.all)]
