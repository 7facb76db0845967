"""Find the visible lists of a recipe: below a heading such as "Ingredients", or in elements with such a class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, cast

from lxml import etree

from scraper.extract.dom.tags import HEADINGS, LISTS
from scraper.extract.dom.xpath import Element, attribute_selector, text_of
from scraper.extract.facts.label_value_pairs import LabelValuePairs
from scraper.extract.facts.schema_graph import clean_text

INGREDIENT_PROPERTIES = frozenset({"ingredients", "recipeingredient", "ingredient"})
STEP_PROPERTIES = frozenset({"recipeinstructions", "instructions"})
INGREDIENT_NAMES = re.compile(r"ingredi|zutat|ingrédient", re.IGNORECASE)
STEP_NAMES = re.compile(
    r"instruction|direction|preparation|method(?!ology)|recipe-?steps?|step-?(?:text|list)|zubereitung|"
    r"preparazione|bereiding|fremgangsm|tillagning|etapes|preparacion",
    re.IGNORECASE,
)
INGREDIENT_HEADING = re.compile(
    r"\W*(?:the |les |gli |los |las |die )?(?:ingredients?|zutaten|ingrédients?|ingredientes?|ingredienti|"
    r"ingrediënten|składniki|ingredienser|ingredienzen|ингредиенты|材料|分量|hozzávalók|malzemeler|"
    r"suroviny|ainekset|sestavine|sastojci|υλικά|재료|what you(?:.?ll)? need|you(?: will|.ll) need|"
    r"benodigdheden|"
    r"(?:dit|wat) heb je nodig|ingredience|ingrediente|інгредієнти|состав|продукти|съставки|raineed|"
    r"sastāvdaļas|ingredientai|食材|用料|原料|bahan(?:-bahan)?|nguyên liệu|ส่วนผสม|วัตถุดิบ|المكونات|المقادير|"
    r"مواد لازم|מצרכים|מרכיבים|सामग्री)(?!\w)",
    re.IGNORECASE,
)
STEP_HEADING = re.compile(
    r"\W*(?:(?:cooking |preparation )?(?:instructions?|directions?|method|procedure)|preparation|zubereitung|"
    r"anleitung|so (?:geht|wird).?s|und so geht.?s|préparation|étapes|(?:les )?étapes|réalisation|"
    r"preparación|elaboración|elaboració|pasos|modo de (?:preparación|hacer)|"
    r"(?:cómo|como) (?:hacer|preparar|fazer)|come (?:preparare|fare)|preparazione|procedimento|"
    r"preparação|modo de fazer|bereiding(?:swijze)?|aan de slag|zo maak je|werkwijze|"
    r"przygotowanie|sposób|wykonanie|gör så här|så här gör du|tillagning|slik gjør du|sådan gør du|"
    r"framgangsmåte|fremgangsmåde|fremgangsmåte|приготовление|приготування|способ|пошаговый рецепт|"
    r"начин на (?:приготвяне|приготовление)|作り方|做法|步[驟骤]|制作(?:方法|步骤)|製作|"
    r"elkészítés|modo de preparo|"
    r"postup|příprava|príprava|priprema|priprava|postopek|mod de preparare|preparare|εκτέλεση|"
    r"만드는|조리(?:법|방법|순서)|hazırlanışı|yapılışı|how to (?:make|cook)|what to do|steps|"
    r"valmistus(?:ohje)?|"
    r"(?:valmistamine|pagatavošana|gaminimas)|cara (?:membuat|memasak)|langkah|cách (?:làm|nấu)|"
    r"วิธีทำ|طريقة (?:التحضير|العمل|الطبخ)|طرز تهیه|אופן ההכנה|הוראות הכנה|विधि)(?!\w)",
    re.IGNORECASE,
)
RECIPE_HEADING = re.compile(
    r"\W*(?:the |la )?(?:recipe|rezept|recette|receta|ricetta|recept|przepis|ohje)\W*$", re.IGNORECASE
)
STEP_MARK = re.compile(
    r"^(?:step|schritt|étape|paso|passo|stap|krok|шаг|trin|steg|vaihe|adım|pas)\s*\d{1,2}\s*[.:)–-]?\s+(?=\S)",
    re.IGNORECASE,
)
"""Label before a step, such as "Step 1"."""
YIELD_LABELS = LabelValuePairs(
    {
        "yields": r"serves|servings?|yields?|makes|portions?|portionen|personen|porties|porzioni|porciones|"
        r"porções|pour|personnes|portioner|porsjoner|porcje|porcí|adag|порции|количество порций|kişilik|"
        r"人数|人分"
    }
)


_MAX_LINES = 100
_MAX_LINE = 2_000
_MAX_INGREDIENT = 200
_MAX_HEADING = 60
_MAX_ROW_PARTS = 3
_MAX_CLIMB = 8
_MAX_BEHIND = 600
"""Elements after a heading in which its list is searched."""
_MAX_ITEMS, _MAX_ELEMENTS, _MAX_HEADINGS = 5_000, 50_000, 20
_CLASSED = attribute_selector("class")
_PROPERTIES = attribute_selector("itemprop")
_PIECES = etree.XPath(".//text() | .//br")

_YIELD_NAMES = re.compile(r"serving|yield|portion", re.IGNORECASE)
_HEADING_LIKE = (*HEADINGS, "strong", "b", "p", "div", "span", "dt", "td", "th")
_LINES = ("li", "p", "dt", "dd", "tr")
_BLOCKS = HEADINGS | LISTS | {"p", "div", "table", "section", "article"}
_OTHER_LINES = ("p", "dt", "dd", "tr")
_OUTSIDE = frozenset({"nav", "header", "footer", "aside"})
_MARK = re.compile(r"^(?:[-–•*▢☐□]\s*|\d{1,2}[.)]\s+)")


def find_ingredients(body: Element) -> list[str]:
    """Return the ingredients; empty if none are found."""
    return (
        _marked(body, INGREDIENT_PROPERTIES)
        or _short(_named(body, INGREDIENT_NAMES, STEP_NAMES))
        or _short(_below(body, INGREDIENT_HEADING, STEP_HEADING))
        or _short(_largest_named_group(_leaves(body, INGREDIENT_NAMES), INGREDIENT_NAMES, STEP_NAMES))
    )


def count_ingredient_headings(body: Element) -> int:
    """Return the number of headings of ingredients: a page with several has several recipes."""
    return sum(_is_heading(heading, INGREDIENT_HEADING) for heading in islice(body.iter(*HEADINGS), _MAX_ITEMS))


def find_instructions(body: Element) -> list[str]:
    """Return the steps; empty if none are found."""
    return (
        _marked(body, STEP_PROPERTIES)
        or _named(body, STEP_NAMES, INGREDIENT_NAMES)
        or _below(body, STEP_HEADING, INGREDIENT_HEADING)
        or _below(body, RECIPE_HEADING, INGREDIENT_HEADING)
        or _largest_named_group(_leaves(body, STEP_NAMES), STEP_NAMES, INGREDIENT_NAMES)
    )


def find_yields(body: Element) -> str | None:
    """Return the number of servings as text, or None."""
    for element in _CLASSED(body):
        if _YIELD_NAMES.search(element.get("class") or ""):
            text = clean_text(text_of(element)[:_MAX_LINE])
            if len(text) < _MAX_HEADING and any(map(str.isdigit, text)):
                return text
    beside = YIELD_LABELS.find(body).get("yields", "")
    return beside if any(map(str.isdigit, beside)) else None


def _short(lines: list[str]) -> list[str]:
    """Return the short lines, or nothing if half of the lines are too long for ingredients."""
    short = [line for line in lines if len(line) <= _MAX_INGREDIENT]
    return short if len(short) > len(lines) // 2 else []


def _marked(body: Element, properties: frozenset[str]) -> list[str]:
    """Return the lines of microdata properties, even outside an item."""
    lines: list[str] = []
    for element in _PROPERTIES(body):
        if (element.get("itemprop") or "").lower() in properties:
            lines += _lines_in(element) or [clean_text(_parted(element))]
    return [line for line in lines if line][:_MAX_LINES]


def _named(body: Element, names: re.Pattern[str], others: re.Pattern[str]) -> list[str]:
    """Return the list items inside elements with such a name; of several groups, the largest."""
    items = (item for item in body.iter("li", "dt") if next(item.iter("ul", "ol"), None) is None)
    return _largest_named_group(items, names, others)


def _largest_named_group(items: Iterable[Element], names: re.Pattern[str], others: re.Pattern[str]) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for item in islice(items, _MAX_ITEMS):
        around = _nearest_named(item, names, others)
        if around is not None:
            kinds.setdefault(_called(around), []).append(_strip_mark(clean_text(_parted(item))))
    best = max(kinds.values(), key=len, default=[])
    lines = [line for line in dict.fromkeys(best) if line and len(line) < _MAX_LINE]
    return lines if 1 < len(lines) < _MAX_LINES else []


def _leaves(body: Element, names: re.Pattern[str]) -> Iterator[Element]:
    """Yield single-line paragraphs and boxes inside elements with such a class, each once."""
    outer: set[Element] = set()
    for around in _CLASSED(body):
        if names.search(around.get("class") or "") and outer.isdisjoint(around.iterancestors()):
            outer.add(around)
            boxes = filter(_is_line, around.iter("p", "div"))
            yield from dict.fromkeys(_find_row(box, around) for box in boxes)


def _find_row(box: Element, listing: Element) -> Element:
    """Return the row of a short box, such as an amount beside its name, if several rows follow each other."""
    row = box.getparent()
    is_row = row is not None and row is not listing and row.tag == "div" and 2 <= len(row) <= _MAX_ROW_PARTS
    if row is None or not is_row or not all(map(_is_line, row)) or len(text_of(row)) > _MAX_INGREDIENT:
        return box
    beside = (row.getprevious(), row.getnext())
    return row if any(one is not None and one.tag == "div" and len(one) == len(row) for one in beside) else box


def _is_line(box: Element) -> bool:
    """Return True if an element holds text and no block elements."""
    return next(box.iterdescendants(*_BLOCKS), None) is None and bool(text_of(box).strip())


def _nearest_named(item: Element, names: re.Pattern[str], others: re.Pattern[str]) -> Element | None:
    """Return the nearest ancestor with such a class, unless a nearer one has an opposite class."""
    around: Element | None = item
    for _ in range(_MAX_CLIMB):
        if around is None or around.tag in _OUTSIDE or around.tag in ("body", "main", "article"):
            return None
        called = _called(around)
        if called and names.search(called):
            return None if others.search(called) else around
        if called and others.search(called):
            return None
        around = around.getparent()
    return None


def _called(element: Element) -> str:
    return f"{element.get('class') or ''} {element.get('id') or ''}".strip()


def _below(body: Element, heading: re.Pattern[str], other: re.Pattern[str]) -> list[str]:
    """Return the lines between a matching heading and the next heading."""
    order = list(islice(body.iter("*"), _MAX_ELEMENTS))
    tried = 0
    for place, element in enumerate(order):
        if (
            element.tag in _HEADING_LIKE
            and _is_heading(element, heading)
            and next(element.iterancestors("nav", "footer"), None) is None
        ):
            tried += 1
            if tried > _MAX_HEADINGS:
                break
            lines = _section(order[place + 1 : place + _MAX_BEHIND], element, other)
            if lines:
                return lines
    return []


def _is_heading(element: Element, meaning: re.Pattern[str]) -> bool:
    text = (element.text or "").strip() or (text_of(element).strip() if element.tag in HEADINGS else "")
    return 0 < len(text) < _MAX_HEADING and meaning.match(text) is not None and len(text_of(element)) < 2 * _MAX_HEADING


def _section(behind: list[Element], heading: Element, other: re.Pattern[str]) -> list[str]:
    """Return the list items after a heading, or paragraphs if there is no list."""
    inside = set(heading.iterdescendants())
    beside = _OutsideContent(heading)
    found: list[Element] = []
    boxes: list[Element] = []
    for element in behind:
        if element in inside or beside.holds(element):
            continue
        if (found or boxes) and (
            _ends(element, heading) or (element.tag in _HEADING_LIKE and _is_heading(element, other))
        ):
            around = set(element.iterancestors())
            found, boxes = ([one for one in part if one not in around] for part in (found, boxes))
            break
        if element.tag in HEADINGS and not found and _is_heading(element, other):
            break
        if element.tag in _LINES:
            found.append(element)
        elif element.tag == "div" and _is_line(element):
            boxes.append(element)
    items = [element for element in found if element.tag == "li" and next(element.iter("ul", "ol"), None) is None]
    chosen = items if len(items) > 1 else _with_text(found)
    if not chosen:
        chosen = boxes if len(boxes) > 1 and heading.tag in HEADINGS else []
    lines = [
        line
        for element in chosen
        for line in (_broken(element) if element.tag == "p" else [clean_text(_parted(element))])
    ]
    return [_strip_mark(line) for line in lines if line and len(line) < _MAX_LINE][:_MAX_LINES]


def _with_text(found: list[Element]) -> list[Element]:
    return [element for element in found if element.tag in _OTHER_LINES and text_of(element).strip()]


class _OutsideContent:
    """Elements outside the content that do not contain the heading."""

    def __init__(self, heading: Element) -> None:
        self._known = dict.fromkeys(heading.iterancestors(), False)

    def holds(self, element: Element) -> bool:
        """Return True if an element is outside the content; results for ancestors are cached."""
        known = self._known.get(element)
        if known is None:
            around = element.getparent()
            known = element.tag in _OUTSIDE or (around is not None and self.holds(around))
            self._known[element] = known
        return known


def _ends(element: Element, heading: Element) -> bool:
    """Return True if an element starts a new section: a heading of the same or a higher rank."""
    if element.tag not in HEADINGS:
        return False
    return heading.tag not in HEADINGS or element.tag <= heading.tag


def _lines_in(element: Element) -> list[str]:
    items = [clean_text(_parted(item)) for item in element.iter("li")]
    if items:
        return items
    paragraphs = list(element.iter("p"))
    return [line for part in (paragraphs or [element]) for line in _broken(part)]


def _broken(element: Element) -> list[str]:
    """Return the lines of a text, split at line breaks."""
    text = "".join(
        "\n" if isinstance(piece, etree._Element) else str(piece).replace("\n", " ")
        for piece in cast("list[Any]", _PIECES(element))
    )
    return [line for line in map(clean_text, text.split("\n")) if line]


def _parted(element: Element) -> str:
    """Return the text of an element with spaces between adjacent parts, such as amount and name in cells."""
    if len(element) < 2:
        return text_of(element)
    text = element.text or ""
    before: Element | None = None
    for part in element:
        inner = _parted(part)
        if before is not None and not before.tail and text[-1:].isalnum() and inner[:1].isalnum():
            text += " "
        text += inner + (part.tail or "")
        before = part
    return text


def _strip_mark(line: str) -> str:
    return STEP_MARK.sub("", _MARK.sub("", line), count=1)
