"""Replace each formula of a page by one `<math>` element that contains only its TeX.

Pages store the TeX of a formula in hidden places (annotations, attributes, scripts) next to a rendering that cannot be
read. This step must run before hidden elements are removed.
"""

import re
from collections.abc import Collection, Iterator
from functools import cache
from urllib.parse import parse_qs, unquote, urlsplit

from lxml import etree

from scraper.html.dom.parsing import HEADINGS, LISTS, Element, classes_of, collect_names, remove, text_of
from scraper.html.math import mathml
from scraper.html.math.tex_delimiters import is_prose, strip_delimiters, strip_display_style

_NORMALIZED = "data-tex-only"
_MAX_FORMULAS = 20_000
_RENDERINGS = frozenset(
    "katex katex-display MathJax MathJax_Display MathJax_CHTML MathJax_SVG MathJax_SVG_Display "
    "MathJax_Preview mwe-math-element math-tex temml MJXc-display mjx-chtml math-inline math-block "
    "math-display".split()
)
_DISPLAYED = frozenset("katex-display MathJax_Display MathJax_SVG_Display MJXc-display math-block math-display".split())
_SOURCES = ("alttext", "data-latex", "data-tex", "data-math", "data-expr", "data-formula", "data-entry")

_CLASS_HINT = re.compile("atex|ath|temml")
_IMAGE_CLASS_PARTS = ("tex", "math")
_IMAGE_URL_PARTS = ("%5C", "tex", "=tx")
_TAG_PARTS = ("math", "tex", "formula")
_FORMULA_TAGS = frozenset({"asciimath", "math", "mjx-container", "script", "img"})
_CONTAINER_TAGS = frozenset({"div", "section", "table", "body", "article"})
_PROSE_TAGS = HEADINGS | LISTS | set("p dl table section article aside blockquote pre details a code sup".split())
_WORD = re.compile(r"[A-Za-z0-9]{3,}")
_TEX_IMAGE = re.compile(r"latex|mathtex|mimetex|cht=tx|/tex\b|texrender|math", re.IGNORECASE)
_TEX_SERVICES = ("latex", "mathtex", "mimetex")
_QUERY_PARAMETERS = ("chl", "latex", "eq", "tex", "formula")
_STYLING = re.compile(r"&(?:bg|fg|s|c|zoom|size)=.*$|\\(?:dpi|bg|fn|inline)(?:\{\w*\}|_\w+)?\s*")
_ALT_TEX = re.compile(r"\\[A-Za-z]{2,}|[\^_]\{|^\$.+\$$")
_COPIED_ATTRIBUTES = ("id", "style", "hidden", "data-x-hidden")
TAG_LIKE = re.compile(r"<(?=[A-Za-z/!?])")
"""A `<` that would open a tag where Markdown is displayed without formulas. TeX ignores the added space."""


def normalize_formulas(root: Element, class_names: str | None = None, all_tags: Collection[str] | None = None) -> bool:
    """Turn every formula in the tree into `<math>` that contains only TeX. A second call changes nothing.

    At most `_MAX_FORMULAS` candidates are read. `class_names` and `all_tags` are those of the tree if the caller has
    them. Return False if nothing in the tree can be or become a formula.
    """
    if class_names is None or all_tags is None:
        all_tags, class_names, _ = collect_names(root)
    normalized: set[Element] = set()
    has_math_classes = _CLASS_HINT.search(class_names) is not None
    candidates = _candidates(root, all_tags, has_math_classes=has_math_classes)
    for element in candidates[:_MAX_FORMULAS]:
        is_detached = element.getparent() is None and element is not root
        if is_detached or is_normalized(element) or not normalized.isdisjoint(element.iterancestors()):
            continue
        found = _read_formula(element)
        if found is not None:
            _replace(element, found[0], display=found[1])
            normalized.add(element)
    return bool(candidates)


def _candidates(root: Element, all_tags: Collection[str], *, has_math_classes: bool) -> list[Element]:
    """Return the elements that may be formulas by tag, or by class if any class suggests it, in document order."""
    tags = [tag for tag in all_tags if tag in _FORMULA_TAGS or ("-" in tag and any(map(tag.__contains__, _TAG_PARTS)))]
    if not has_math_classes:
        return list(filter(_may_be_formula, root.iter(*tags))) if tags else []
    has_hint = cache(_CLASS_HINT.search)
    return [
        element
        for element in root.iter()
        if (element.tag in tags and _may_be_formula(element)) or has_hint(element.get("class") or "")
    ]


def _may_be_formula(element: Element) -> bool:
    if element.tag == "script":
        return (element.get("type") or "").startswith("math/")
    classes, source = element.get("class") or "", element.get("src") or ""
    is_named = any(map(classes.__contains__, _IMAGE_CLASS_PARTS)) or any(map(source.__contains__, _IMAGE_URL_PARTS))
    return element.tag != "img" or is_named


def is_normalized(formula: Element) -> bool:
    """Return True if `normalize_formulas` made this element."""
    return formula.get(_NORMALIZED) is not None


def is_display(formula: Element) -> bool:
    """Return True if a normalized formula is on a line of its own."""
    return formula.get("display") == "block"


def _read_formula(element: Element) -> tuple[str, bool] | None:
    """Return the TeX of an element and True if it is displayed, or None if it is not a formula."""
    tag = str(element.tag)
    if tag == "script":
        kind = (element.get("type") or "").lower()
        is_formula = kind.startswith(("math/asciimath", "math/tex", "math/latex"))
        return (_clean_tex(element.text or ""), "display" in kind) if is_formula else None
    if tag == "img":
        tex = _read_image(element)
        return (tex, False) if tex else None
    classes = classes_of(element)
    if (tag == "asciimath" or "asciimath" in classes) and not len(element):
        tex = _clean_tex((element.text or "").strip("`"))
        return (tex, _is_display(element, classes)) if tex else None
    is_rendering = tag in ("span", "div") and not _RENDERINGS.isdisjoint(classes)
    is_rendering = is_rendering and next(element.iterdescendants(*_PROSE_TAGS), None) is None
    if tag not in ("math", "mjx-container") and not is_rendering:
        return _read_attributes(element, classes)
    if _next_script(element) is not None:
        return "", False  # the next element is the source of this rendering
    tex = _read_source(element)
    return (tex, _is_display(element, classes)) if tex else None


def _read_attributes(element: Element, classes: list[str]) -> tuple[str, bool] | None:
    """Read an element with an attribute that contains the TeX of its rendering."""
    tex = next((_clean_tex(element.get(name) or "") for name in _SOURCES[1:] if element.get(name)), "")
    holds_more = element.tag in _CONTAINER_TAGS and len(text_of(element)) > 4 * len(tex) + 80
    return None if not tex or holds_more else (tex, _is_display(element, classes))


def _next_script(element: Element) -> Element | None:
    """Return the MathJax 2 script of the formula that this element renders, or None."""
    after = element.getnext()
    while after is not None and not (element.tail or "").strip():
        if after.tag == "script" and (after.get("type") or "").startswith("math/"):
            return after
        if _RENDERINGS.isdisjoint(classes_of(after)):
            return None
        element, after = after, after.getnext()
    return None


def _read_source(element: Element) -> str:
    """Return the TeX of an annotation or attribute, else of MathML, else of MathJax elements."""
    for tex in _find_tex(element):
        return tex
    formula = element if element.tag == "math" else next(element.iter("math"), None)
    if formula is not None:
        etree.strip_elements(formula, "annotation", "annotation-xml", with_tail=False)
        tex = _clean_tex(mathml.to_tex(formula) if len(formula) else formula.text or "")
        # If words would be lost, it is not a formula.
        return tex if all(word in tex for piece in formula.itertext() for word in _WORD.findall(str(piece))) else ""
    if element.tag == "mjx-container" or next(element.iter("mjx-math"), None) is not None:
        return _clean_tex(mathml.to_tex(mathml.build_mathml("math", element)))
    return _clean_tex(text_of(element)) if "math-tex" in (element.get("class") or "") else ""


def _find_tex(element: Element) -> Iterator[str]:
    for annotation in element.iter("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower():
            yield from filter(None, [_clean_tex(annotation.text or "")])
    inner = next(element.iter("math", "mjx-math"), None)
    is_only_child = element.getprevious() is None and element.getnext() is None
    for place in (element, inner, element.getparent() if is_only_child else None):
        if place is not None:
            yield from filter(None, (_clean_tex(place.get(name) or "") for name in _SOURCES))


def _clean_tex(tex: str) -> str:
    tex = strip_delimiters(tex)
    return "" if is_prose(tex) else tex


def _is_display(element: Element, classes: list[str]) -> bool:
    if not _DISPLAYED.isdisjoint(classes) or element.get("display") in ("true", "block"):
        return True
    formula = element if element.tag == "math" else next(element.iter("math"), None)
    if formula is not None:
        return formula.get("display") == "block" or formula.get("mode") == "display"
    return any("display" in (inner.get("class") or "") for inner in element.iter())


def _read_image(image: Element) -> str:
    """Return the TeX in the description, else in the query or last path segment of a rendering service's URL."""
    alt, source = (image.get("alt") or "").strip(), image.get("src") or ""
    classes = image.get("class") or ""
    if alt and (_ALT_TEX.search(alt) or re.search(r"\b(?:tex|latex|mwe-math\S*)\b", classes)):
        return _clean_tex(strip_display_style(alt))
    if alt and not _TEX_IMAGE.search(source):
        return ""
    try:
        address = urlsplit(source)
        parameters = parse_qs(address.query)
    except ValueError:
        return ""
    for name in _QUERY_PARAMETERS:
        if name in parameters:
            return _clean_tex(parameters[name][0].strip())
    for text in (address.query, address.path.rpartition("/")[2]):
        name, equals, value = unquote(text).partition("=")
        is_named = equals and name.lower() in (*_QUERY_PARAMETERS, "q")
        tex = _STYLING.sub("", value if is_named else name + equals + value).strip()
        if "\\" in tex or (tex and text is address.query and any(name in source for name in _TEX_SERVICES)):
            return _clean_tex(tex)
    return ""


def _replace(element: Element, tex: str, *, display: bool) -> None:
    """Turn the element into the formula, or remove it if there is no TeX; its tail stays."""
    if not tex:
        remove(element)
        return
    tex = TAG_LIKE.sub("< ", tex)
    tail = element.tail
    names = ("id", "hidden", "data-x-hidden") if element.tag in ("script", "img") else _COPIED_ATTRIBUTES
    attributes = {name: str(element.attrib[name]) for name in names if name in element.attrib}
    element.clear()
    element.tag = "math"
    for name, value in attributes.items():
        element.set(name, value)
    if display:
        element.set("display", "block")
    element.set(_NORMALIZED, "")
    element.text, element.tail = tex, tail
