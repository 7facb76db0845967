"""The lists of a recipe as a person sees them: below a heading of that meaning, or in what is called so."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, cast

from lxml import etree

from scraper.extract.facts.items import cleaned
from scraper.extract.xpath import Element, having, text_of

__all__ = ["ingredients", "instructions", "yields"]

_MAX_LINES = 100
_MAX_LINE = 2_000
_MAX_INGREDIENT = 200
_MAX_HEADING = 60
_MAX_CLIMB = 8
_MAX_BEHIND = 600
"""Elements behind a heading in which its list may stand."""
_MAX_ITEMS, _MAX_ELEMENTS, _MAX_HEADINGS = 5_000, 50_000, 20
_CLASSED = having("class")
_PROPERTIES = having("itemprop")
_PIECES = etree.XPath(".//text() | .//br")

_INGREDIENT_PROPERTIES = frozenset({"ingredients", "recipeingredient", "ingredient"})
_STEP_PROPERTIES = frozenset({"recipeinstructions", "instructions"})
_INGREDIENT_NAMES = re.compile(r"ingredi|zutat|ingrédient", re.IGNORECASE)
_STEP_NAMES = re.compile(
    r"instruction|direction|preparation|method(?!ology)|recipe-?steps?|step-?(?:text|list)|zubereitung|"
    r"preparazione|bereiding|fremgangsm|tillagning|etapes|preparacion",
    re.IGNORECASE,
)
_INGREDIENT_HEADING = re.compile(
    r"\W*(?:the |les |gli |los |las )?(?:ingredients?|zutaten|ingrédients?|ingredientes?|ingredienti|"
    r"ingrediënten|składniki|ingredienser|ingredienzen|ингредиенты|材料|分量|hozzávalók|malzemeler|"
    r"suroviny|ainekset|sestavine|sastojci|υλικά|재료|what you.?ll need|you will need|benodigdheden)\b",
    re.IGNORECASE,
)
_STEP_HEADING = re.compile(
    r"\W*(?:instructions?|directions?|method|procedure|preparation|zubereitung|anleitung|préparation|"
    r"étapes|preparación|elaboración|preparazione|procedimento|bereiding(?:swijze)?|przygotowanie|sposób|"
    r"wykonanie|gör så här|tillagning|framgangsmåte|fremgangsmåde|приготовление|способ|作り方|做法|"
    r"elkészítés|modo de preparo|postup|příprava|εκτέλεση|만드는|hazırlanışı|yapılışı|how to make|steps|"
    r"valmistus)\b",
    re.IGNORECASE,
)
_RECIPE_HEADING = re.compile(
    r"\W*(?:the )?(?:recipe|rezept|recette|receta|ricetta|recept|przepis)\W*$", re.IGNORECASE
)
_YIELD_NAMES = re.compile(r"serving|yield|portion", re.IGNORECASE)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HEADING_LIKE = (*_HEADINGS, "strong", "b", "p", "div", "span", "dt", "td", "th")
_LINES = ("li", "p", "dt", "dd", "tr")
_OUTSIDE = frozenset({"nav", "header", "footer", "aside"})
_MARK = re.compile(r"^(?:[-–•*▢☐□]\s*|\d{1,2}[.)]\s+)")


def ingredients(body: Element) -> list[str]:
    """The lines of the list of ingredients; empty where none is found."""
    return (
        _marked(body, _INGREDIENT_PROPERTIES)
        or _short(_named(body, _INGREDIENT_NAMES, _STEP_NAMES))
        or _short(_below(body, _INGREDIENT_HEADING, _STEP_HEADING))
    )


def instructions(body: Element) -> list[str]:
    """The steps; empty where none are found."""
    return (
        _marked(body, _STEP_PROPERTIES)
        or _named(body, _STEP_NAMES, _INGREDIENT_NAMES)
        or _below(body, _STEP_HEADING, _INGREDIENT_HEADING)
        or _below(body, _RECIPE_HEADING, _INGREDIENT_HEADING)
    )


def yields(body: Element) -> str | None:
    """For how many it is."""
    for element in _CLASSED(body):
        if _YIELD_NAMES.search(element.get("class") or ""):
            text = cleaned(text_of(element)[:_MAX_LINE])
            if len(text) < _MAX_HEADING and any(map(str.isdigit, text)):
                return text
    return None


def _short(lines: list[str]) -> list[str]:
    """Ingredients are short; a list of long lines is something else."""
    kept = [line for line in lines if len(line) <= _MAX_INGREDIENT]
    return kept if len(kept) > len(lines) // 2 else []


def _marked(body: Element, properties: frozenset[str]) -> list[str]:
    """What properties of microdata hold, even where they stand in no item."""
    lines: list[str] = []
    for element in _PROPERTIES(body):
        if (element.get("itemprop") or "").lower() in properties:
            lines += _lines_in(element) or [cleaned(_parted(element))]
    return [line for line in lines if line][:_MAX_LINES]


def _named(body: Element, names: re.Pattern[str], others: re.Pattern[str]) -> list[str]:
    """The lines of the elements of that name; of several kinds of them those that hold the most."""
    kinds: dict[str, list[str]] = {}
    for item in islice(body.iter("li", "dt"), _MAX_ITEMS):
        around = _nearest_named(item, names, others)
        if around is not None and next(item.iter("ul", "ol"), None) is None:
            kinds.setdefault(_called(around), []).append(_unmarked(cleaned(_parted(item))))
    best = max(kinds.values(), key=len, default=[])
    lines = [line for line in dict.fromkeys(best) if line and len(line) < _MAX_LINE]
    return lines if 1 < len(lines) < _MAX_LINES else []


def _nearest_named(item: Element, names: re.Pattern[str], others: re.Pattern[str]) -> Element | None:
    """The nearest element around a line that is called so, if nothing nearer is called otherwise."""
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
    """What stands between a heading of that meaning and the next one."""
    order = list(islice(body.iter("*"), _MAX_ELEMENTS))
    tried = 0
    for place, element in enumerate(order):
        if element.tag in _HEADING_LIKE and _is_heading(element, heading):
            tried += 1
            if tried > _MAX_HEADINGS:
                break
            lines = _section(order[place + 1 : place + _MAX_BEHIND], element, other)
            if lines:
                return lines
    return []


def _is_heading(element: Element, meaning: re.Pattern[str]) -> bool:
    told = (element.text or "").strip() or (text_of(element).strip() if element.tag in _HEADINGS else "")
    return (
        0 < len(told) < _MAX_HEADING
        and meaning.match(told) is not None
        and len(text_of(element)) < 2 * _MAX_HEADING
    )


def _section(behind: list[Element], heading: Element, other: re.Pattern[str]) -> list[str]:
    """The lines of the list behind a heading; paragraphs where there is no list."""
    inside = set(heading.iterdescendants())
    found: list[Element] = []
    for element in behind:
        if element in inside:
            continue
        if found and (_ends(element, heading) or _is_other_heading(element, other)):
            around = set(element.iterancestors())
            found = [one for one in found if one not in around]
            break
        if element.tag in _HEADINGS and not found and _is_heading(element, other):
            break
        if element.tag in _LINES:
            found.append(element)
    items = [
        element for element in found if element.tag == "li" and next(element.iter("ul", "ol"), None) is None
    ]
    chosen = items if len(items) > 1 else [element for element in found if element.tag in ("p", "dt", "tr")]
    lines = [
        line
        for element in chosen
        for line in (_broken(element) if element.tag == "p" else [cleaned(_parted(element))])
    ]
    return [_unmarked(line) for line in lines if line and len(line) < _MAX_LINE][:_MAX_LINES]


def _is_other_heading(element: Element, other: re.Pattern[str]) -> bool:
    return element.tag in _HEADING_LIKE and _is_heading(element, other)


def _ends(element: Element, heading: Element) -> bool:
    """Whether a new section begins: a heading of the same rank or a higher one."""
    if element.tag not in _HEADINGS:
        return False
    return heading.tag not in _HEADINGS or element.tag <= heading.tag


def _lines_in(element: Element) -> list[str]:
    items = [cleaned(_parted(item)) for item in element.iter("li")]
    if items:
        return items
    paragraphs = list(element.iter("p"))
    return [line for part in (paragraphs or [element]) for line in _broken(part)]


def _broken(element: Element) -> list[str]:
    """The lines of a text, cut at its line breaks."""
    text = "".join(
        "\n" if isinstance(piece, etree._Element) else str(piece).replace("\n", " ")
        for piece in cast("list[Any]", _PIECES(element))
    )
    return [line for line in map(cleaned, text.split("\n")) if line]


def _parted(element: Element) -> str:
    """The text of an element; a space between parts that touch, as an amount and a name in cells do."""
    if len(element) < 2:
        return text_of(element)
    said = element.text or ""
    before: Element | None = None
    for part in element:
        inner = _parted(part)
        if before is not None and not before.tail and said[-1:].isalnum() and inner[:1].isalnum():
            said += " "
        said += inner + (part.tail or "")
        before = part
    return said


def _unmarked(line: str) -> str:
    return _MARK.sub("", line)
