"""Extract the facts of a recipe from markup and visible text. Prefer no fact to a guess."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scraper.facts import recipe_visible
from scraper.facts.label_value_pairs import LabeledValueFinder
from scraper.facts.model import Facts, FactSource
from scraper.facts.product_markup import add_rating
from scraper.facts.recipe_visible import INGREDIENT_HEADING, OUTSIDE, STEP_MARK
from scraper.facts.schema_graph import (
    OTHER_ITEM_PROPERTIES,
    SchemaGraph,
    clean_text,
    has_type,
    is_same_name,
    plain_text,
    property_value,
)
from scraper.facts.syntaxes.jsonld import JsonLdItem, read_names
from scraper.html.dom.parsing import Element, attribute_selector, text_of
from scraper.stages import Stage, run_stages
from scraper.text.sanitize import name_key
from scraper.words.matcher import WordPattern

_RECIPES = frozenset({"recipe"})
_STEPS = frozenset({"howtostep", "howtosection"})
_NUMBERED = re.compile(r"(?:[^\W\d]*\s*\d{1,2})?")
_PARTS = ("itemListElement", "steps", "step")
_MOST_NAMES = 2
"""Recipes with different names. With more, the page is a list, unless one has the title of the page."""
_MAIN_PROPERTIES = ("name", "recipeIngredient", "ingredients", "recipeInstructions")
_MIN_FULLNESS = 2
"""Main properties. Items with fewer are mentions of recipes."""
_MAX_LINES = 500
_MAX_LINE = 5_000
_MAX_DEPTH = 6
_MAX_TITLE = 300
_BREAKS = re.compile(r"<\s*(?:br|/p|/li|/div|/h\d)\b[^>]{0,200}>|\r?\n", re.IGNORECASE)
_WRONG_ENCODING = re.compile(r"Â(?=[\u00a0-\u00bf])")
_ZERO_CENTS = re.compile(r"^(\d{1,4})\.0(?= )")
_TITLE_END = re.compile(r"\s[-–—|·]\s")
_NOT_NUTRIENTS = ("@type", "@context", "@id", "type")
_TIMES = {"total_time": "totalTime", "prep_time": "prepTime", "cook_time": "cookTime"}


def page_recipes(graph: SchemaGraph, title: str) -> list[JsonLdItem]:
    """Return the items of the recipe of the page, best first; empty for a list of recipes.

    Items with the title of the page come first, then the most complete ones. `title` is in the form of `name_key`.
    """
    own = [item for item in graph.items(without=OTHER_ITEM_PROPERTIES) if has_type(item, _RECIPES)]
    found = own or [item for item in graph.items() if has_type(item, _RECIPES)]
    names = {id(item): name_key(graph.text(item, "name")) for item in found}
    fullness = {id(item): sum(bool(property_value(item, name)) for name in _MAIN_PROPERTIES) for item in found}
    found.sort(key=lambda item: (not is_same_name(names[id(item)], title), -fullness[id(item)]))
    if not found or is_same_name(names[id(found[0])], title):
        return found
    full = [item for item in found if fullness[id(item)] >= _MIN_FULLNESS] or found
    return found if len({names[id(item)] for item in full}) <= _MOST_NAMES else []


def _add(facts: Facts, graph: SchemaGraph, item: JsonLdItem, source: FactSource) -> None:
    title = graph.text(item, "name", "headline")
    facts.add("title", title[:_MAX_TITLE] if title else None, source)
    ingredients = property_value(item, "recipeIngredient") or property_value(item, "ingredients")
    facts.add("ingredients", _lines(graph, ingredients), source)
    facts.add("instructions", _lines(graph, property_value(item, "recipeInstructions")), source)
    for name, key in _TIMES.items():
        facts.add(name, parse_minutes(graph.text(item, key)), source)
    facts.add("yields", graph.text(item, "recipeYield", "yield"), source)
    author = [clean_text(name) for name in read_names(graph.resolve(property_value(item, "author")))]
    people = [name for name in author if name and "://" not in name]
    facts.add("author", ", ".join(people[:5]), source)
    facts.add("image", graph.picture(item), source)
    add_rating(facts, "ratings", graph, item, source)
    for nutrition in graph.objects(item, "nutrition")[:1]:
        named = {name: plain_text(value) for name, value in nutrition.items() if name not in _NOT_NUTRIENTS}
        facts.add("nutrients", {name: text for name, text in named.items() if text}, source)


def _lines(graph: SchemaGraph, value: Any) -> list[str]:
    """Return the lines of a list that is written as texts, steps, sections of steps, or one text with line breaks."""
    found: list[str] = []
    for text in _texts(graph, value, 0):
        lines = (_clean_line(part[:_MAX_LINE]) for part in _BREAKS.split(text))
        marks = (STEP_MARK, INGREDIENT_HEADING)
        found += [line for line in lines if line and not any(mark.fullmatch(line.rstrip(" :")) for mark in marks)]
    return found[:_MAX_LINES]


def _clean_line(text: str) -> str:
    """Return a line without the remains of a wrong encoding (`Â½`) and of a number format (`500.0 g`)."""
    return _ZERO_CENTS.sub(r"\1", _WRONG_ENCODING.sub("", clean_text(text)))


def _texts(graph: SchemaGraph, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > _MAX_DEPTH:
        return
    elif isinstance(value, list):
        titles = Counter(_title_of(part) for part in value if isinstance(part, dict))
        for part in value:
            is_repeated = isinstance(part, dict) and titles[_title_of(part)] > 1
            yield from _texts(graph, {**part, "name": None} if is_repeated and part.get("text") else part, depth + 1)
    elif isinstance(value, dict):
        item = graph.resolve(value)
        inner = next((item[name] for name in _PARTS if item.get(name)), None)
        title = _title_of(item)
        if inner is not None:
            yield from filter(None, [title])
            yield from _texts(graph, inner, depth + 1)
            return
        text = item.get("text")
        if title and isinstance(text, str) and not name_key(clean_text(text)).startswith(name_key(title)):
            yield title
        for name in ("text", "name", "description", "value", "@value", "item"):
            if item.get(name):
                yield from _texts(graph, item[name], depth + 1)
                return


def _title_of(step: JsonLdItem) -> str | None:
    """Return the name of a step or section that is not a number, such as `Step 1`."""
    name = step.get("name")
    title = clean_text(name).rstrip(".… ") if isinstance(name, str) and has_type(step, _STEPS) else ""
    return None if _NUMBERED.fullmatch(title) else title


_LABELS = LabeledValueFinder("recipe", "total_time prep_time cook_time yields")

_TIME_NAMES = re.compile(
    r"(?<![a-z])(?:(?P<total_time>total)|(?P<prep_time>prep(?:aration)?)|(?P<cook_time>cook(?:ing)?))[-_]?time(?![a-z])|"
    r"(?<!\S)(?:dt-)?duration(?!\S)",
    re.IGNORECASE,
)
"""Names of the times in microdata, microformats and plugins."""
_NAME_SELECTORS = tuple(attribute_selector(name) for name in ("class", "itemprop"))
_MAX_TEXT = 80


def find_times(body: Element, labels: Mapping[str, str]) -> dict[str, int]:
    """Return minutes by name; ignore labeled values without a unit, and elements of one name with several times."""
    texts = {name: labels[name] for name in _TIMES if name in labels}
    labeled = {name: None if text.isdecimal() else parse_minutes(text) for name, text in texts.items()}
    found: dict[str, set[int]] = {}
    for element in (element for called in _NAME_SELECTORS for element in called(body)):
        words = f"{element.get('class') or ''} {element.get('itemprop') or ''}"
        names = {match.lastgroup or "total_time" for match in _TIME_NAMES.finditer(words)}
        if names and (span := _span(element)):
            for name in names:
                found.setdefault(name, set()).add(span)
    single = {name: spans.pop() for name, spans in found.items() if len(spans) == 1}
    return single | {name: minutes for name, minutes in labeled.items() if minutes}


def _span(element: Element) -> int | None:
    """Return the minutes that an element states or shows, or None if it is outside the content."""
    if next(element.iterancestors(*OUTSIDE), None) is not None:
        return None
    stated = (element.get(name) for name in ("content", "datetime", "title"))
    for text in (*stated, clean_text(text_of(element)[: 4 * _MAX_TEXT])):
        is_time = text and len(text) <= _MAX_TEXT and text.strip("0123456789:. ")  # a bare number is of a video
        if is_time and (span := parse_minutes(text)):
            return span
    return None


ORDER = (
    "title", "ingredients", "instructions", "total_time", "prep_time", "cook_time", "yields", "author",
    "image", "ratings", "nutrients",
)  # fmt: skip
"""Names of the facts, in the order of the answer."""
_PAGE_AUTHORS = (0.6, 0.5)
"""Confidences of `RecipeDraft.authors`. Of 213 recipes, eight have only a site, which is the author of six."""
_OF_ONE_PART = 0.6
"""Confidence of a total time that is the sum of only one known time."""
_MIN_CLEAR, _MIN_CLEAR_SHARE = 5, 0.6
"""Lines, and share of them with an amount, that make a list a recipe without steps."""


@dataclass
class RecipeDraft:
    """Data of a page, and the facts that the stages have found in it. The first stage that states a fact wins."""

    graphs: Mapping[FactSource, SchemaGraph]
    body: Element
    title: str
    authors: tuple[str | None, str | None]
    """Author of the page and name of the site, used if the recipe has no author."""
    picture: str | None
    """Image of the page, used if the recipe has none."""
    for_header: bool = False
    """True to read no visible lists of a recipe with markup, whose facts are enough for a header."""
    facts: Facts = field(default_factory=Facts)

    @cached_property
    def items(self) -> Mapping[FactSource, list[JsonLdItem]]:
        """The items of the recipe in each syntax."""
        return {source: page_recipes(graph, name_key(self.title)) for source, graph in self.graphs.items()}

    @property
    def has_markup(self) -> bool:
        """True if an item of the page is a recipe."""
        return any(self.items.values())

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The visible values beside labels; found once, when a stage needs them."""
        return _LABELS.find(self.body)

    def is_about_food(self) -> bool:
        """Return True if markup or the ingredients say that the page has a recipe."""
        return self.has_markup or recipe_visible.looks_like_food(self.facts.value("ingredients") or [])


def extract_recipe(draft: RecipeDraft) -> dict[str, Any] | None:
    """Return the facts of the recipe, or None if the page has none."""
    facts = run_stages(LIST_STAGES, draft).facts
    if not draft.is_about_food():
        return None
    lines = facts.value("ingredients") or []
    # Even without steps, which may be prose, a clear list is a recipe's.
    is_sure = draft.has_markup or "instructions" in facts
    if not is_sure and not recipe_visible.looks_like_food(lines, _MIN_CLEAR, _MIN_CLEAR_SHARE):
        return None
    return run_stages(DETAIL_STAGES, draft).facts.as_object(ORDER)


def read_items(draft: RecipeDraft) -> RecipeDraft:
    """Read the schema.org items of each syntax."""
    for source, found in draft.items.items():
        graph = draft.graphs[source]
        for item in found:
            # Skip other recipes on the page.
            name = name_key(graph.text(item, "name"))
            if not name or is_same_name(name, name_key(graph.text(found[0], "name"))):
                _add(draft.facts, graph, item, source)
    return draft


def read_visible_lists(draft: RecipeDraft) -> RecipeDraft:
    """Read the visible ingredients, and complete the lists of the markup by the visible ones."""
    if draft.for_header and draft.has_markup:
        return draft
    facts, marked = draft.facts, draft.facts.value("ingredients")
    visible = [_clean_line(line) for line in recipe_visible.find_ingredients(draft.body)]
    is_one_list = recipe_visible.count_ingredient_headings(draft.body) <= 1
    if marked and (complete := complete_lines(marked, visible, is_one_list=is_one_list)) != marked:
        facts.replace("ingredients", complete, FactSource.VISIBLE, confidence=0.9)
    facts.add("ingredients", visible, FactSource.VISIBLE)
    return draft


def read_visible_steps(draft: RecipeDraft) -> RecipeDraft:
    """Read the visible steps of a recipe whose markup has none."""
    is_enough = draft.for_header and draft.has_markup
    if not is_enough and "instructions" not in draft.facts and draft.is_about_food():
        draft.facts.add("instructions", recipe_visible.find_instructions(draft.body), FactSource.VISIBLE)
    return draft


def read_title(draft: RecipeDraft) -> RecipeDraft:
    """Use the title of the page for a recipe without one, or with one that ends with the name of the site."""
    facts, title = draft.facts, draft.title
    marked_title = facts.value("title") or ""
    if title and marked_title.startswith(title) and _TITLE_END.search(marked_title[len(title) :]):
        facts.replace("title", title, FactSource.VISIBLE, confidence=0.9)
    facts.add("title", title, FactSource.VISIBLE, confidence=0.9)
    return draft


def use_page_author(draft: RecipeDraft) -> RecipeDraft:
    """Use author and image of the page for a recipe without them."""
    for name, confidence in zip(draft.authors, _PAGE_AUTHORS, strict=True):
        draft.facts.add("author", name, FactSource.VISIBLE, confidence=confidence)
    draft.facts.add("image", draft.picture, FactSource.OPENGRAPH)
    return draft


def read_visible_yields(draft: RecipeDraft) -> RecipeDraft:
    """Read the visible number of servings."""
    if "yields" not in draft.facts:
        beside = draft.labels.get("yields", "")
        found = beside if any(map(str.isdigit, beside)) else recipe_visible.find_servings(draft.body)
        draft.facts.add("yields", recipe_visible.find_named_yields(draft.body) or found, FactSource.VISIBLE)
    return draft


def read_times(draft: RecipeDraft) -> RecipeDraft:
    """Read the visible times if the total time is not marked up, and compute a missing total; remove zero times."""
    facts = draft.facts
    if not facts.value("total_time"):
        facts.forget("total_time")
        for name, span in find_times(draft.body, draft.labels).items():
            facts.add(name, span, FactSource.VISIBLE)
    parts = [facts.value("prep_time"), facts.value("cook_time")]
    if any(parts):  # one may be missing: the dish is not cooked, or needs no preparation
        certainty = _OF_ONE_PART if None in parts else None
        facts.add("total_time", sum(filter(None, parts)), FactSource.SUM, confidence=certainty)
    for name in ("prep_time", "cook_time", "total_time"):
        if facts.value(name) == 0:  # plugins write 0 for a missing time
            facts.forget(name)
    return draft


LIST_STAGES: tuple[Stage[RecipeDraft], ...] = (
    Stage(read_items, 0.46, "recipes.ingredients"),
    Stage(read_visible_lists, 3.9, "recipes.ingredients"),
    Stage(read_visible_steps, 0.31, "recipes.instructions"),
)
"""Sources of the lists that decide if the page has a recipe, best first."""

DETAIL_STAGES: tuple[Stage[RecipeDraft], ...] = (
    Stage(read_title, 0.01, "recipes.title"),
    Stage(use_page_author, 0.01, "recipes.author"),
    Stage(read_visible_yields, 0.14, "recipes.yields"),
    Stage(read_times, 1.2, "recipes.total_time"),
)
"""Sources of the other facts, best first."""


_MAX_LOST = 12
"""Letters and digits of an amount that the markup lost at the beginning of a line."""
_MIN_WITH_AMOUNT = 0.8
"""Minimum share of lines with a number in a list of ingredients."""
_MIN_MORE = 2
"""Lines with amounts among those that only the visible list has."""


def complete_lines(marked: list[str], visible: list[str], *, is_one_list: bool = True) -> list[str]:
    """Return the lines of the markup, or visible lines that contain the same and more.

    A visible line replaces a marked-up line that lost the beginning of its amount, or its whole amount like most of the
    list. The visible list replaces the whole list if the markup joined all lines to one, or contains only some of them.
    The last case requires `is_one_list`: the page shows only one list.
    """
    shown = {_squash_line(line): line for line in visible}
    lines = [_squash_line(line) for line in marked]
    if len(marked) == 1 and len(visible) > 1 and all(line in lines[0] for line in shown):
        return visible
    more = [line for text, line in shown.items() if text not in lines]
    has_all = len(more) == len(shown) - len(lines) and len(shown) == len(visible)
    with_amount = sum(any(map(str.isnumeric, line)) for line in more)
    if is_one_list and has_all and len(more) >= _MIN_MORE and with_amount >= _MIN_WITH_AMOUNT * len(more):
        own = dict(zip(lines, marked, strict=True))
        return [own.get(text, line) for text, line in shown.items()]
    return _complete_amounts(marked, lines, shown)


def _complete_amounts(marked: list[str], lines: list[str], shown: Mapping[str, str]) -> list[str]:
    longer = [None if text in shown else _find_longer(text, shown) for text in lines]
    is_without_amounts = 2 * sum(line is not None for line in longer) > len(marked)
    pairs = zip(marked, longer, strict=True)
    return [((is_without_amounts or line[:1].isnumeric()) and other) or line for line, other in pairs]


def _squash_line(line: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", line).casefold()))


def _find_longer(text: str, shown: Mapping[str, str]) -> str | None:
    """Return the only visible line that ends with a squashed line and begins with more of its amount, or None."""
    longer = [other for other in shown if other.endswith(text) and 0 < len(other) - len(text) <= _MAX_LOST]
    has_amount = len(longer) == 1 and any(map(str.isdigit, longer[0].removesuffix(text)))
    return shown[longer[0]] if text and has_amount else None


_UNITS = {"day": 1440.0, "hour": 60.0, "minute": 1.0, "second": 1 / 60}
"""Minutes of each unit."""
_ISO = re.compile(
    r"P(?:0+(?:\.0+)?Y)?(?:0+(?:\.0+)?M)?(?:(\d{1,3})W)?(?:(\d{1,6}(?:\.\d+)?)?D)?T?(?:(\d{1,6}(?:\.\d+)?)?H)?(?:(\d{1,6}(?:\.\d+)?)?M)?(?:(\d{1,6}(?:\.\d+)?)?S)?",
    re.IGNORECASE,
)
_WITH_UNITS = WordPattern(
    r"(\d{1,5}(?:[.,]\d{1,2})?)\s*(?:"
    + "|".join(f"(?P<{unit}>{{dates.{unit}|calendar.{unit}|dates.{unit}_in_durations}})" for unit in _UNITS)
    + r")(?![a-zà-ÿ])\.?"
)
_BETWEEN = WordPattern(r"[\s,.:&+]*{dates.and}?[\s,]*")
_BARE_MINUTES = re.compile(r"(?<=\d)(\s?h)(?:eures?)?\s?([0-5]?\d)(?![\d.,:]*\d|\s?[^\W\d_]|\s?['′])", re.IGNORECASE)
"""`1h30`: a number without a unit after hours is minutes."""
_NEGATIVE = re.compile(r"-\s*P[T\d]|P[TDHMSWY\d.]*-\d", re.IGNORECASE)
_HALF = re.compile(r"(\d+)\s*(?:½|1/2)|(½|\b1/2)")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")

_MAX_MINUTES = 100_000
"""Minutes: ten weeks. No recipe ferments longer."""
_LEAST_WITH_SECONDS = 5.0
"""Minutes. A shorter time with seconds, such as 45 seconds, has its minutes in the wrong field."""
_MAX_CHARACTERS = 100


def parse_minutes(text: str | None) -> int | None:
    """Return whole minutes, or None if the text names no duration.

    A number without a unit is minutes, `1:30` is hours and minutes. Negative durations, those over `_MAX_MINUTES`, and
    ISO 8601 durations with seconds below five minutes also return None.
    """
    text = (text or "").strip()[:_MAX_CHARACTERS]
    if not text or _NEGATIVE.match(text):
        return None
    text = _BARE_MINUTES.sub(r"\1\2M", text)
    iso = _ISO.fullmatch(text.replace(" ", ""))
    if iso is not None and any(iso.groups()):
        weeks, days, hours, whole, seconds = (float(part or 0) for part in iso.groups())
        total = (weeks * 7 + days) * 1440 + hours * 60 + whole + seconds / 60
        found = None if seconds and total < _LEAST_WITH_SECONDS else total
    else:
        found = float(text) if text.isascii() and text.isdecimal() else _parse_units(text)
    return int(found) if found is not None and 0 <= found <= _MAX_MINUTES else None


def _parse_units(text: str) -> float | None:
    clock = _CLOCK.fullmatch(text)
    if clock:
        return int(clock.group(1)) * 60.0 + int(clock.group(2))
    text = _HALF.sub(lambda match: f"{match.group(1) or 0}.5", text)
    total: float | None = None
    end = 0
    for match in _WITH_UNITS.finditer(text):
        if total is not None and not _BETWEEN.fullmatch(text[end : match.start()]):
            break
        unit = next(name for name in _UNITS if match.group(name))
        total = (total or 0.0) + float(match.group(1).replace(",", ".")) * _UNITS[unit]
        end = match.end()
    return total
