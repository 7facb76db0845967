"""Find the visible lists of a recipe: below a heading such as "Ingredients", or in elements with such a class."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, cast

from lxml import etree

from scraper.facts.metadata.author_date_labels import strip_digits
from scraper.facts.schema_graph import clean_text
from scraper.html.dom.parsing import (
    HEADINGS,
    LISTS,
    Element,
    attribute_selector,
    depth_of,
    element_selector,
    text_of,
    text_selector,
)
from scraper.words.matcher import WordPattern


class _Kind(NamedTuple):
    """Marks of the lists of one kind."""

    properties: frozenset[str]
    """Microdata properties in lower case."""
    names: WordPattern
    """Classes and other names of elements."""
    headings: tuple[WordPattern, ...]


INGREDIENT_HEADING = WordPattern(r"\W*(?:{recipe.article} )?{recipe.ingredients}(?!\w)")
_STEP_HEADING = WordPattern(r"\W*(?:{recipe.article} )?{recipe.steps}(?!\w)")
_RECIPE_HEADING = WordPattern(r"\W*(?:{recipe.article} )?{recipe.recipe}\W*$")
_INGREDIENTS = _Kind(
    frozenset({"ingredients", "recipeingredient", "ingredient"}),
    WordPattern(r"{recipe.ingredient_class}|(?<![a-z])zairyou?(?![a-z])"),
    (INGREDIENT_HEADING,),
)
_STEPS = _Kind(
    frozenset({"recipeinstructions", "instructions"}),
    WordPattern(r"method(?!ology)|recipe[-_]*steps?|steps?[-_]*(?:text|list|item|wrapper)|{recipe.step_class}"),
    (_STEP_HEADING, _RECIPE_HEADING),
)

_MAX_LINES = 100
_MAX_LINE = 2_000
_MAX_ROW = 200
_MAX_HEADING = 60
_MAX_CLIMB = 8
_MAX_BEHIND = 600
"""Elements after a heading in which its list is searched."""
_MAX_ITEMS, _MAX_ELEMENTS, _MAX_HEADINGS = 5_000, 50_000, 20
_AMOUNT_ALONE = re.compile(r"[\d\u00bc-\u00be\u2150-\u215e.,/ –-]+\s*\w{0,12}\.?")
_MIN_SPLIT = 0.3
_MIN_STEP = 30
"""Mean characters of the steps of a recipe. Shorter lines are names, times or links."""
_FIRST_CJK = "\u2e80"
_MAX_LISTS = 40
_NAMES = ("class", "id", "data-testid", "data-test", "aria-label")
_ELEMENTS_WITH_NAME = element_selector(f"descendant-or-self::*[{' or '.join(f'@{name}' for name in _NAMES)}]")
_NAME_VALUES = text_selector(" | ".join(f"descendant-or-self::*/@{name}" for name in _NAMES))
_ELEMENTS_WITH_CLASS = attribute_selector("class")
_PROPERTIES = attribute_selector("itemprop")

_SERVINGS = WordPattern(
    r"(?<![\d.,/])\d{1,3}(?:\s?[-–]\s?\d{1,3})?\s*(?:\([^\W\d]+\)\s*)?{recipe.servings}(?![^\W\d_])"
)
"""A number of servings without a label, such as "Pour 4 personnes" or "4 (small) servings"."""
_YIELD_NAMES = ("serving", "yield", "portion")
_HEADING_LIKE = (*HEADINGS, "strong", "b", "p", "div", "span", "dt", "td", "th")
_LINES = ("li", "p", "dt", "dd", "tr")
OUTSIDE = frozenset({"nav", "header", "footer", "aside"})
"""Tags of elements outside the content."""
_OUTSIDE_LIST = OUTSIDE | {"body", "html", "main"}


def find_ingredients(body: Element) -> list[str]:
    """Return the first list with amounts beside names, or the first list; empty if none is found."""
    return _first(filter(None, map(_keep_short, _find_lists(body, _INGREDIENTS, _STEPS))), _is_whole_list)


def looks_like_food(lines: list[str], min_lines: int = 2, min_share: float = 0.3) -> bool:
    """Return True if a list has amounts: lists of categories or of product components have none."""
    with_amounts = sum(any(map(str.isnumeric, line)) for line in lines)
    return len(lines) >= min_lines and with_amounts >= min_share * len(lines)


def _is_whole_list(lines: list[str]) -> bool:
    """Return True if a list has amounts that are not lines of their own between names."""
    alone = sum(_AMOUNT_ALONE.fullmatch(line) is not None for line in lines)
    names = sum(not any(map(str.isnumeric, line)) for line in lines)
    is_split = min(alone, names) >= _MIN_SPLIT * len(lines)
    return looks_like_food(lines) and not is_split


def count_ingredient_headings(body: Element) -> int:
    """Return the number of headings of ingredients: a page with several has several recipes."""
    return sum(_is_heading(heading, INGREDIENT_HEADING) for heading in islice(body.iter(*HEADINGS), _MAX_ITEMS))


def find_instructions(body: Element) -> list[str]:
    """Return the first list of sentences, or the first list; empty if none is found."""
    return _first(filter(None, _find_lists(body, _STEPS, _INGREDIENTS)), _looks_like_steps)


def _looks_like_steps(lines: list[str]) -> bool:
    """Return True if the lines are long enough for sentences and are not ingredients."""
    length = sum(sum(2 if char > _FIRST_CJK else 1 for char in line) for line in lines)
    amounts = sum(line[:1].isnumeric() and len(line) < _MAX_HEADING for line in lines)
    return length >= _MIN_STEP * len(lines) and 2 * amounts <= len(lines)


def _first(lists: Iterator[list[str]], is_likely: Callable[[list[str]], bool]) -> list[str]:
    first: list[str] = []
    for lines in islice(lists, _MAX_LISTS):
        if is_likely(lines):
            return lines
        first = first or lines
    return first


def _find_lists(body: Element, kind: _Kind, other: _Kind) -> Iterator[list[str]]:
    yield _marked(body, kind.properties)
    # Most pages of other kinds have no element with such a name.
    is_named = any(map(kind.names.search, set(_NAME_VALUES(body))))
    if is_named:
        items = (item for item in body.iter("li", "dt", "tr") if next(item.iter("ul", "ol"), None) is None)
        yield from _named_groups(items, kind, other)
    for heading in kind.headings:
        yield from _below(body, heading, other.headings[0])
    if is_named:
        yield from _shaped(body, kind, other)
    if kind is _INGREDIENTS:
        yield from _beside(body, kind.headings[0])


def find_named_yields(body: Element) -> str | None:
    """Return the text with a number in an element that is named as the yield, or None."""
    for element in _ELEMENTS_WITH_CLASS(body):
        if any(name in (element.get("class") or "").lower() for name in _YIELD_NAMES):
            text = clean_text(text_of(element)[:_MAX_LINE])
            if len(text) < _MAX_HEADING and any(map(str.isdigit, text)):
                return text
    return None


def find_servings(body: Element) -> str | None:
    """Return the first number of servings in the text of the page, or None."""
    texts = (" ".join((element.text or "").split()) for element in islice(body.iter(), _MAX_ELEMENTS))
    found = (_SERVINGS.search(text) for text in texts if len(text) < _MAX_HEADING)
    return next((match.group() for match in found if match), None)


def _keep_short(lines: list[str]) -> list[str]:
    short = [line for line in lines if len(line) <= _MAX_ROW]
    return short if len(short) > len(lines) // 2 else []


def _marked(body: Element, properties: frozenset[str]) -> list[str]:
    """Return the lines of microdata properties, even outside an item."""
    lines: list[str] = []
    for element in _PROPERTIES(body):
        if (element.get("itemprop") or "").lower() in properties:
            lines += _read_list_items(element) or [clean_text(_text_of_item(element))]
    return [line for line in lines if line][:_MAX_LINES]


def _named_groups(items: Iterable[Element], kind: _Kind, other: _Kind) -> Iterator[list[str]]:
    """Yield the texts of items by the class of the element around them, the largest group first."""
    kinds: dict[str, list[str]] = {}
    is_named, is_other = (cache(one.names.search) for one in (kind, other))
    for item in islice(items, _MAX_ITEMS):
        around = _nearest_named(item, is_named, is_other)
        if around is not None:
            line = _strip_list_marker(clean_text(_text_of_item(item)))
            kinds.setdefault(around.get("class") or "", []).append(line)
    for found in sorted(kinds.values(), key=len, reverse=True):
        lines = [line for line in dict.fromkeys(found) if line and len(line) < _MAX_LINE]
        if 1 < len(lines) < _MAX_LINES:
            yield lines


def _shaped(body: Element, kind: _Kind, other: _Kind) -> Iterator[list[str]]:
    is_named = cache(lambda name: kind.names.search(name) and not other.names.search(name))
    outer: set[Element] = set()
    for around in filter(lambda one: is_named(_called(one)), _ELEMENTS_WITH_NAME(body)):
        if outer.isdisjoint(around.iterancestors()) and not _is_outside(around):
            outer.add(around)
            yield from _row_texts(around)


def _beside(body: Element, heading: WordPattern) -> Iterator[list[str]]:
    for element in islice(body.iter(*HEADINGS), _MAX_ITEMS):
        if _is_heading(element, heading) and not _is_outside(element):
            around = islice((element, *element.iterancestors()), 3)
            for box in (one for part in around for one in (part.getnext(), part.getparent())):
                if box is not None and box.tag not in _OUTSIDE_LIST:
                    yield from _row_texts(box)


def _is_outside(element: Element) -> bool:
    return next(element.iterancestors(*OUTSIDE), None) is not None


def _nearest_named(
    item: Element, is_named: Callable[[str], object], is_other: Callable[[str], object]
) -> Element | None:
    """Return the nearest ancestor with such a class, unless a nearer one has an opposite class."""
    around: Element | None = item
    for _ in range(_MAX_CLIMB):
        if around is None or around.tag in OUTSIDE or around.tag in ("body", "main", "article"):
            return None
        called = _called(around)
        if called and is_named(called):
            return None if is_other(called) else around
        if called and is_other(called):
            return None
        around = around.getparent()
    return None


def _called(element: Element) -> str:
    return " ".join(filter(None, map(element.get, _NAMES)))


def _below(body: Element, heading: WordPattern, other: WordPattern) -> Iterator[list[str]]:
    """Yield the lines between a matching heading and the next heading."""
    order = list(islice(body.iter("*"), _MAX_ELEMENTS))
    tried = 0
    for place, element in enumerate(order):
        is_heading = element.tag in _HEADING_LIKE and _is_heading(element, heading)
        if is_heading and next(element.iterancestors("nav", "footer"), None) is None:
            yield _section(order[place + 1 : place + _MAX_BEHIND], element, other)
            tried += 1
            if tried == _MAX_HEADINGS:
                break


def _is_heading(element: Element, meaning: WordPattern) -> bool:
    text = (element.text or "").strip() or (text_of(element).strip() if element.tag in HEADINGS else "")
    return 0 < len(text) < _MAX_HEADING and meaning.match(text) is not None and len(text_of(element)) < 2 * _MAX_HEADING


def _section(behind: list[Element], heading: Element, other: WordPattern) -> list[str]:
    """Return the list items after a heading, or paragraphs if there is no list, or boxes of one line."""
    lines, boxes = _find_lines(behind, heading, other)
    found = _within_box(lines, heading)
    chosen = [element for element in found if element.tag == "li" and next(element.iter("ul", "ol"), None) is None]
    if len(chosen) < 2:
        chosen = [element for element in found if element.tag != "li" and text_of(element).strip()]
    if not chosen and len(boxes) > 1 and heading.tag in HEADINGS:
        chosen = boxes
    texts = [
        line
        for element in chosen
        for line in (_split_at_line_breaks(element) if element.tag == "p" else [clean_text(_text_of_item(element))])
    ]
    return [line for line in map(_strip_list_marker, texts) if line and len(line) < _MAX_LINE][:_MAX_LINES]


def _within_box(found: list[Element], heading: Element) -> list[Element]:
    """Return the lines in the box of the heading and the first line; others are of another part of the page."""
    around = [one for line in found[:1] for one in line.iterancestors() if one in set(heading.iterancestors())]
    return [line for line in found if around[0] in line.iterancestors()]


def _find_lines(behind: list[Element], heading: Element, other: WordPattern) -> tuple[list[Element], list[Element]]:
    """Return the items and paragraphs of the section after a heading, and its boxes of one line."""
    inside, above = set(heading.iterdescendants()), set(heading.iterancestors())
    found: list[Element] = []
    boxes: list[Element] = []
    for element in behind:
        beside = element.tag in OUTSIDE or not above.issuperset(element.iterancestors(*OUTSIDE))
        if element in inside or beside:
            continue
        is_other = element.tag in _HEADING_LIKE and _is_heading(element, other)
        if (found or boxes) and (_ends_section(element, heading) or is_other):
            around = set(element.iterancestors())
            return [one for one in found if one not in around], [one for one in boxes if one not in around]
        if element.tag in HEADINGS and not found and is_other:
            break
        if element.tag in _LINES:
            found.append(element)
        elif element.tag == "div" and _is_line(element):
            boxes.append(element)
    return found, boxes


def _ends_section(element: Element, heading: Element) -> bool:
    return element.tag in HEADINGS and (heading.tag not in HEADINGS or element.tag <= heading.tag)


STEP_MARK = WordPattern(r"^{recipe.step}\s*\d{1,2}(?:\s*/\s*\d{1,2})?\s*[.:)–-]?(?:\s+(?=\S)|$)")
"""Label before a step, or instead of one, such as "Step 1"."""

_BLOCKS = HEADINGS | LISTS | {"p", "div", "table", "section", "article"}
_MARK = re.compile(r"^(?:[-–•*▢☐□]\s*|\d{1,2}[.)]\s+)")
_PIECES = etree.XPath(".//text() | .//br")
_MIN_SHARE = 0.7
"""Share of the text of a list in its rows. The rest is headings."""
_MAX_ROW_ELEMENTS = 1_000
_MAX_TEXT = 20_000


def _row_texts(around: Element) -> Iterator[list[str]]:
    """Yield the texts of descendants of one tag, class and depth that hold most of the text of an element."""
    whole = len("".join(text_of(around).split()))
    whole -= sum(len("".join(text_of(one).split())) for one in around.iter("select"))
    if not 0 < whole <= _MAX_TEXT:
        return
    top = depth_of(around)
    shapes: dict[tuple[str, str, int], list[Element]] = {}
    for element in islice(around.iterdescendants("*"), _MAX_ROW_ELEMENTS):
        name = strip_digits(element.get("class") or "")
        shapes.setdefault((str(element.tag), name, depth_of(element) - top), []).append(element)
    repeated = sorted((rows for rows in shapes.values() if len(rows) > 1), key=len, reverse=True)
    for rows in repeated:  # sorting is stable: the outer ones come first
        texts = _texts(rows)
        if all(texts) and sum(len("".join(text.split())) for text in texts) >= _MIN_SHARE * whole:
            lines = dict.fromkeys(map(_strip_list_marker, texts))
            yield [line for line in lines if line and len(line) < _MAX_LINE][:_MAX_LINES]


def _texts(rows: list[Element]) -> list[str]:
    before = [row.getprevious() for row in rows]
    is_alternate = all(one is not None for one in before) and set(rows).isdisjoint(before)
    groups = zip(before, rows, strict=True) if is_alternate else ((row,) for row in rows)
    return [clean_text(" ".join(_text_of_item(part) for part in group if part is not None)) for group in groups]


def _is_line(box: Element) -> bool:
    return next(box.iterdescendants(*_BLOCKS), None) is None and bool(text_of(box).strip())


def _read_list_items(element: Element) -> list[str]:
    items = [clean_text(_text_of_item(item)) for item in element.iter("li")]
    if items:
        return items
    paragraphs = list(element.iter("p"))
    return [line for part in (paragraphs or [element]) for line in _split_at_line_breaks(part)]


def _split_at_line_breaks(element: Element) -> list[str]:
    text = "".join(
        "\n" if isinstance(piece, etree._Element) else str(piece).replace("\n", " ")
        for piece in cast("list[Any]", _PIECES(element))
    )
    return [line for line in map(clean_text, text.split("\n")) if line]


def _text_of_item(element: Element) -> str:
    """Return the text of an element with a space between adjacent parts, such as amount and name in cells."""
    if not len(element):
        return element.text or ""
    text = element.text or ""
    before: Element | None = None
    for part in element:
        inner = _text_of_item(part) if part.tag != "br" else "\n"
        if before is not None and not before.tail and text[-1:].isalnum() and inner[:1].isalnum():
            text += " "
        text += inner + (part.tail or "")
        before = part
    return text


def _strip_list_marker(line: str) -> str:
    return STEP_MARK.sub("", _MARK.sub("", line), count=1)
