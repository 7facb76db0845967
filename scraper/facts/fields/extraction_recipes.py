"""Learn a recipe, the places of values, from the examples of one to three pages, and apply it to other pages."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from statistics import median
from typing import Any

from scraper.facts.fields.model import MAX_FIELDS, MIN_FITTING
from scraper.facts.fields.place_finder import ValuePlace, ValuePlaceFinder, parse_stored
from scraper.facts.fields.record_columns import COLUMNS
from scraper.facts.fields.text_leaves import TextLeaf
from scraper.html.dom.parsing import HEADINGS
from scraper.text.sanitize import name_key

_VERSION = 2
_ADDED_IN_VERSION_2: Mapping[str, Any] = {"context": [], "in_title": False}
"""Features that the places of version 1 do not have."""
MAX_CHARACTERS = 60_000
"""Characters of a recipe as JSON."""
_MAX_EXAMPLES = 3
"""Examples of one field in a recipe. A further one replaces the oldest."""

_LIKELY = 0.4
"""Minimum median similarity of the places on a page of the same site after a redesign."""
_MIN_PLACE = 0.3
"""Minimum similarity of each place on a page of another design."""
_SAME_DESIGN = 0.75
"""Minimum median similarity of the places on a page of the same design."""
_MIN_SHARE = 0.7
"""Share of the median that each place must reach on a page of the same design.

Places of absent values are less similar.
"""
_CONFIDENCES = ((0.7, 0.93), (0.5, 0.87), (0.0, 0.67))
"""Minimum similarity, and share of correct values, measured on sites before and after a redesign."""
_AROUND_INSIDE = 60
_PER_LEAF = 0.0005
"""Points of the rank of a place that each leaf before it costs."""
_MARK = re.compile(r"\s*\W\s*")


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """Place of the values of one field in the records of a list; without a place, the field is found by its name."""

    usual: str = ""
    """Name of a usual column, such as `title`."""
    label: str = ""
    """Text of the leaf before the value; `path` has only the kind of the value's leaf then."""
    path: tuple[str, ...] = ()
    """Kind of leaf, then tag, classes and position of each element from the value up to its record."""
    hint: str = ""
    """Description of the field, which helps to find it by its name."""
    prefix: str = ""
    """Text before the value in its leaf."""
    suffix: str = ""
    """Text after the value in its leaf."""

    @property
    def is_by_name(self) -> bool:
        """True if the column is found by the name of the field."""
        return not (self.usual or self.path)


@dataclass(frozen=True, slots=True)
class ExtractionRecipe:
    """Places of the fields on similar pages, or columns of a list."""

    host: str
    places: Mapping[str, tuple[ValuePlace, ...]]
    """Places of each field in its examples, oldest first."""
    columns: Mapping[str, RecordColumn] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LocatedValue:
    """Leaf that contains a value, and its text before and after the value."""

    leaf: TextLeaf
    prefix: str = ""
    suffix: str = ""

    @property
    def is_exact(self) -> bool:
        """True if the leaf contains nothing else."""
        return not (self.prefix or self.suffix)


@dataclass(frozen=True, slots=True)
class RecipeValues:
    """Values read by a recipe; without values if the recipe does not fit the page."""

    values: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Value and confidence by field; fields that were not found are missing."""
    similarities: tuple[float, ...] = ()
    """Similarity of the best place of each field, ascending."""
    is_likely: bool = False
    """True if the page has another design, so that values are less reliable."""
    fits: bool = True


def learn(
    finder: ValuePlaceFinder, example: Mapping[str, str], host: str, recipe: ExtractionRecipe | None = None
) -> tuple[ExtractionRecipe, dict[str, str]]:
    """Return a recipe for the values of an example, or `recipe` with one more example of some of its fields.

    If the places of all examples together do not find the value of this one on its page, the earlier ones were wrong,
    and only the new one is kept. The second result maps each value that is not on the page to the most similar text.
    """
    earlier = recipe.places if recipe else {}
    places = dict(earlier)
    missing: dict[str, str] = {}
    for name, value in example.items():
        known = earlier.get(name, ())
        found = locate(finder, value, known)
        if found is None:
            missing[name] = find_nearest(finder, value)
            continue
        new = replace(finder.place(found.leaf), prefix=found.prefix, suffix=found.suffix)
        together = (*known[1 - _MAX_EXAMPLES :], new)
        is_found = finder.find(together)[1] is found.leaf
        places[name] = together if is_found and new not in known else known if is_found else (new,)
    longer = ExtractionRecipe(host, places)
    if len(to_text(longer)) > MAX_CHARACTERS:
        longer = ExtractionRecipe(host, {name: several[-1:] for name, several in places.items()})
    return longer, missing


def find_nearest(finder: ValuePlaceFinder, value: str) -> str:
    """Return the text of the page that is most similar to a value, or an empty string."""
    texts = [one.text for one in finder.leaves if len(one.text) < 4 * len(value) + 40]
    return next(iter(get_close_matches(value[:200], texts[:2_000], 1, 0.3)), "")


def locate(finder: ValuePlaceFinder, value: str, known: Sequence[ValuePlace] = ()) -> LocatedValue | None:
    """Return the likeliest place of a value on the page; None if the page does not contain it.

    With places of earlier examples, it is the most similar one to these.
    """
    found = locate_all(finder, value)
    exact = [one for one in found if one.is_exact]
    if known and found:
        leaves = {one.leaf.number: one for one in exact or found}
        _, leaf = finder.find(known, leaves)
        return leaves[leaf.number] if leaf else None
    if exact:
        return max(exact, key=lambda one: _rank(one.leaf) - _PER_LEAF * one.leaf.number)
    return min(found, key=lambda one: (len(one.leaf.text), _PER_LEAF * one.leaf.number - _rank(one.leaf)), default=None)


def find_unclear(finder: ValuePlaceFinder, example: Mapping[str, str]) -> list[str]:
    """Return the names of the values that are at several places of the page, of which none is likelier."""
    unclear: list[str] = []
    for name, value in example.items():
        leaves = [one.leaf for one in locate_all(finder, value) if one.is_exact]
        best = max(map(_rank, leaves), default=0.0)
        # Leaves of one line are a text and its parts.
        if len({leaf.line for leaf in leaves if _rank(leaf) == best}) > 1:
            unclear.append(name)
    return unclear


def locate_all(finder: ValuePlaceFinder, value: str) -> list[LocatedValue]:
    """Return the leaves that are a value or contain it, in page order."""
    wanted = name_key(value)
    clean = " ".join(value.replace("\xa0", " ").split()).rstrip("…")
    found: list[LocatedValue] = []
    for leaf in finder.leaves if wanted else ():
        if name_key(leaf.text) == wanted:
            found.append(LocatedValue(leaf))
        elif clean in leaf.text and len(leaf.text) < 6 * len(clean) + _AROUND_INSIDE:
            prefix, _, suffix = leaf.text.partition(clean)
            found.append(LocatedValue(leaf, prefix, suffix))
    return found


def _rank(leaf: TextLeaf) -> float:
    around = {one.tag for one in leaf.element.iterancestors()} | {leaf.element.tag}
    rank = 2.0 * ("h1" in around) + 1.0 * (not around.isdisjoint(HEADINGS)) + 0.5 * leaf.is_whole
    rank += 0.5 * any(leaf.element.get(name) for name in ("class", "id", "itemprop"))
    return rank - 1.0 * (not around.isdisjoint({"nav", "footer"}))


def read(recipe: ExtractionRecipe, finder: ValuePlaceFinder, host: str) -> RecipeValues:
    """Return the values at the most similar places of a page; none if the recipe does not fit."""
    found = {name: finder.find(known) for name, known in recipe.places.items()}
    similarities = tuple(sorted(similarity for similarity, _ in found.values()))
    is_known, is_likely = _judge_fit(similarities, is_own_site=host == recipe.host)
    if not (is_known or is_likely):
        return RecipeValues({}, similarities, fits=False)
    middle = median(similarities)
    least = _MIN_SHARE * middle if middle >= _SAME_DESIGN else _MIN_PLACE
    values: dict[str, tuple[str, float]] = {}
    owners: dict[TextLeaf, set[ValuePlace]] = {}
    for name, (similarity, leaf) in sorted(found.items(), key=lambda one: -one[1][0]):
        places = {replace(one, prefix="", suffix="") for one in recipe.places[name]}
        # Two fields are in one leaf only if they were in an example.
        if leaf is None or similarity < least or owners.setdefault(leaf, places).isdisjoint(places):
            continue
        # The newest example counts whose prefix or suffix changes the text.
        stripped = [strip_around(leaf.text, one.prefix, one.suffix) for one in reversed(recipe.places[name])]
        if text := next((one for one in stripped if one != leaf.text), stripped[0]):
            share = 0.99 if is_known else next(share for least, share in _CONFIDENCES if similarity >= least)
            values[name] = (text, share)
    return RecipeValues(values, similarities, is_likely)


def _judge_fit(similarities: Sequence[float], *, is_own_site: bool) -> tuple[bool, bool]:
    """Return True first if the design is that of the recipe, and second if it is probably a redesign of it."""
    # On its own site, half of the fields may be absent. Elsewhere, a similar title alone must not fit two fields.
    middle_at = len(similarities) // 2 if is_own_site else (len(similarities) - 1) // 2
    is_known = bool(similarities) and similarities[middle_at] >= MIN_FITTING
    return is_known, not is_known and is_own_site and bool(similarities) and median(similarities) >= _LIKELY


def strip_around(text: str, prefix: str, suffix: str) -> str:
    """Return a text without the prefix and suffix that surrounded the example's value.

    A prefix that ends with a colon stands for any label of up to 40 characters. A suffix that begins with a punctuation
    mark stands for all text from this mark on.
    """
    if prefix:
        if text.startswith(prefix):
            text = text[len(prefix) :]
        elif prefix.rstrip().endswith((":", "：")) and (label := re.match(r"[^:：]{0,40}[:：]\s*", text)):
            text = text[label.end() :]
    if suffix:
        mark = _MARK.match(suffix)
        if text.endswith(suffix):
            text = text[: -len(suffix)]
        elif mark and mark[0].strip() and mark[0] in text:
            text = text[: text.index(mark[0])]
    return text.strip()


def to_text(recipe: ExtractionRecipe) -> str:
    """Serialize a recipe as JSON for the caller."""
    places = {name: [one.as_data() for one in known] for name, known in recipe.places.items()}
    data: dict[str, Any] = {"version": _VERSION, "host": recipe.host}
    data["fields"] = {name: known if len(known) > 1 else known[0] for name, known in places.items()}
    if recipe.columns:
        defaults = asdict(RecordColumn())
        data["records"] = {
            name: {key: value for key, value in asdict(column).items() if value != defaults[key]}
            for name, column in recipe.columns.items()
        }
        del data["fields"]
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def from_text(text: str) -> ExtractionRecipe:
    """Parse a recipe.

    Raises:
        ValueError: The text is not a recipe of this version.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"it has more than {MAX_CHARACTERS:,} characters")
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(data, dict) or data.get("version") not in (1, _VERSION):
        raise ValueError(f"it is not of version {_VERSION}")
    missing = _ADDED_IN_VERSION_2 if data["version"] == 1 else {}
    has_columns = "records" in data
    host, named = data.get("host"), data.get("records" if has_columns else "fields")
    if not isinstance(host, str) or not isinstance(named, dict) or not 1 <= len(named) <= MAX_FIELDS:
        raise ValueError("it has no fields")
    places: dict[str, tuple[ValuePlace, ...]] = {}
    columns: dict[str, RecordColumn] = {}
    for name, one in named.items():
        several = one if isinstance(one, list) and not has_columns else [one]
        if not 1 <= len(several) <= _MAX_EXAMPLES or not all(isinstance(known, dict) for known in several):
            raise ValueError(f"{name[:40]} has no place")
        if has_columns:
            columns[name] = parse_stored(RecordColumn, one)
            if columns[name].usual not in ("", *COLUMNS):
                raise ValueError(f"{name[:40]} has no place")
        else:
            places[name] = tuple(parse_stored(ValuePlace, missing | known) for known in several)
    return ExtractionRecipe(host, places, columns)
