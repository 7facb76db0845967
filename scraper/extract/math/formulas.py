"""Formulas, however a page sets them, become one element each that holds their TeX.

Pages keep the TeX of a formula where nobody sees it (annotations, attributes, scripts) beside a rendering
that cannot be read, so this goes before what is out of sight is taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeGuard
from urllib.parse import parse_qs, unquote, urlsplit

from lxml import etree

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, collect_class_names, text_of
from scraper.extract.math import katex, mathjax, mathml
from scraper.extract.math.tex import is_prose, strip_delimiters, strip_display_style

_SETTLED = "data-tex-only"
_MAX_FORMULAS = 20_000
_RENDERINGS = frozenset(
    "katex katex-display MathJax MathJax_Display MathJax_CHTML MathJax_SVG MathJax_SVG_Display "
    "MathJax_Preview mwe-math-element math-tex temml MJXc-display mjx-chtml math-inline math-block "
    "math-display".split()
)
_DISPLAYED = frozenset(
    "katex-display MathJax_Display MathJax_SVG_Display MJXc-display math-block math-display".split()
)
_SOURCES = ("alttext", "data-latex", "data-tex", "data-math", "data-expr", "data-formula", "data-entry")
"""Attributes in which renderers keep the TeX."""

_MATH_CLASS = re.compile("atex|ath|temml")
_IN_IMAGE_CLASS = ("tex", "math")
_IN_IMAGE_SOURCE = ("%5C", "tex", "=tx")
_IN_TAG = ("math", "tex", "formula")
_MAY_HOLD = frozenset({"math", "mjx-container", "script", "img"})
_HOLDERS = frozenset({"div", "section", "table", "body", "article"})
_PROSE_TAGS = (
    "p ul ol dl table section article aside blockquote pre details h1 h2 h3 h4 h5 h6 a code sup".split()
)
_NAMED = re.compile(r"(?:^|-)(?:math|tex|latex|katex|formula)(?:-|$)")
_WORD = re.compile(r"[A-Za-z0-9]{3,}")
_DISPLAY_NAME = re.compile(r"(?:^|-)(?:display|block|interline|disp)(?:-|$)")
_LOOKS_TEX = re.compile(r"\\[A-Za-z]+|[\^_]\{?|^\s*\$.+\$\s*$|^[\s\w=+\-*/(),.]{1,40}$", re.DOTALL)
_TEX_IMAGE = re.compile(r"latex|mathtex|mimetex|cht=tx|/tex\b|texrender|math", re.IGNORECASE)
_TEX_SERVICE = re.compile(r"latex|mathtex|mimetex")
_QUERY_PARAMETER = re.compile(r"^(?:latex|eq|tex|formula|chl|q)=", re.IGNORECASE)
_STYLING = re.compile(r"&(?:bg|fg|s|c|zoom|size)=.*$|\\(?:dpi|bg|fn|inline)(?:\{\w*\}|_\w+)?\s*")
_ALT_TEX = re.compile(r"\\[A-Za-z]{2,}|[\^_]\{|^\$.+\$$")


_TAG_LIKE = re.compile(r"<(?=[A-Za-z/!?])")
"""What would open a tag where Markdown is shown without formulas; to TeX the space is nothing."""


def normalize_formulas(root: Element, names: str | None = None) -> bool:
    """Turn every formula in the tree into `<math>` with nothing but TeX in it; again does no harm.

    `names` are the tree's classes, where they are known. False: there is nothing that could ever become one.
    """
    settled: set[Element] = set()
    classed = _MATH_CLASS.search(collect_class_names(root) if names is None else names) is not None
    candidates = _candidates(root, classed=classed)
    for element in candidates[:_MAX_FORMULAS]:
        if is_normalized(element) or _is_gone(element, root) or _is_inside(element, settled):
            continue
        found = _formula(element)
        if found is None:
            continue
        tex, shown = found
        _replace(element, tex, display=shown)
        settled.add(element)
    return bool(candidates)


def _candidates(root: Element, *, classed: bool) -> list[Element]:
    """What may be a formula by its tag, and by its class where any says so, in document order."""
    found: list[Element] = []
    for element in root.iter():
        tag: str = element.tag
        if ((tag in _MAY_HOLD or "-" in tag) and _is_marked(element, tag)) or (
            classed and _MATH_CLASS.search(element.get("class") or "")
        ):
            found.append(element)
    return found


def _is_marked(element: Element, tag: str) -> bool:
    """Whether tag and attributes say that an element may be a formula."""
    if tag == "script":
        return (element.get("type") or "").startswith("math/")
    if tag == "img":
        classes, source = element.get("class") or "", element.get("src") or ""
        return any(part in classes for part in _IN_IMAGE_CLASS) or any(
            part in source for part in _IN_IMAGE_SOURCE
        )
    return tag in _MAY_HOLD or any(part in tag for part in _IN_TAG)


def is_normalized(formula: Element) -> bool:
    """Whether an element is what `normalize_formulas` makes of a formula."""
    return formula.get(_SETTLED) is not None


def is_display(formula: Element) -> bool:
    """Whether a settled formula stands on a line of its own."""
    return formula.get("display") == "block"


def _is_gone(element: Element, root: Element) -> bool:
    return element.getparent() is None and element is not root


def _is_inside(element: Element, settled: set[Element]) -> bool:
    return bool(settled) and any(around in settled for around in element.iterancestors())


def _formula(element: Element) -> tuple[str, bool] | None:
    """The TeX of an element and whether it is displayed; None where it is no formula of its own."""
    tag = str(element.tag)
    if tag == "script":
        return _of_script(element)
    if tag == "img":
        tex = _of_image(element)
        return (tex, False) if tex else None
    classes = (element.get("class") or "").split()
    if tag not in ("math", "mjx-container") and not _is_rendering(element, classes):
        return _of_attributes(element) if not _NAMED.search(tag) else _of_custom(element)
    if _next_script(element) is not None:
        return "", False  # what this is the rendering of stands right behind it
    tex = _source(element)
    return (tex, _is_display(element, classes)) if tex else None


def _is_rendering(element: Element, classes: list[str]) -> bool:
    """Whether an element is what a renderer made of a formula, and holds nothing else."""
    if element.tag not in ("span", "div") or _RENDERINGS.isdisjoint(classes):
        return False
    return next(element.iterdescendants(*_PROSE_TAGS), None) is None


def _of_script(script: Element) -> tuple[str, bool] | None:
    kind = (script.get("type") or "").lower()
    if not kind.startswith(("math/tex", "math/latex")):
        return None
    return _kept(script.text or ""), "display" in kind


def _of_custom(element: Element) -> tuple[str, bool] | None:
    """An element of the page's own that is named after formulas and holds TeX."""
    text = text_of(element)
    if "-" not in str(element.tag) or len(element) or not _LOOKS_TEX.search(text):
        return _of_attributes(element)
    shown = _DISPLAY_NAME.search(str(element.tag)) is not None or text.strip().startswith(("$$", "\\["))
    tex = _kept(text)
    return (tex, shown or _is_display(element, [])) if tex else None


def _of_attributes(element: Element) -> tuple[str, bool] | None:
    """Any element that notes the TeX of the rendering in it."""
    tex = next((_kept(element.get(name) or "") for name in _SOURCES[1:] if element.get(name)), "")
    holds_more = element.tag in _HOLDERS and len(text_of(element)) > 4 * len(tex) + 80
    if not tex or holds_more:
        return None
    return tex, _is_display(element, (element.get("class") or "").split())


def _next_script(element: Element) -> Element | None:
    """The script of the formula that MathJax 2 rendered into this element."""
    after = element.getnext()
    while after is not None and not (element.tail or "").strip():
        if after.tag == "script" and (after.get("type") or "").startswith("math/"):
            return after
        if _RENDERINGS.isdisjoint((after.get("class") or "").split()):
            return None
        element, after = after, after.getnext()
    return None


def _source(element: Element) -> str:
    """The TeX in an annotation or attribute, else what the MathML says, else MathJax's own elements."""
    for tex in _noted(element):
        return tex
    formula = element if element.tag == "math" else next(element.iter("math"), None)
    if formula is not None:
        return _spelled_out(formula)
    if element.tag == "mjx-container" or next(element.iter("mjx-math"), None) is not None:
        return _kept(mathml.to_tex(mathjax.to_mathml(element)))
    boxes = next((part for part in element.iter("span") if part.get("class") == "katex-html"), None)
    if boxes is not None:
        return _kept(katex.to_tex(boxes))
    return _kept(text_of(element)) if "math-tex" in (element.get("class") or "") else ""


def _spelled_out(formula: Element) -> str:
    """MathML as TeX; empty where words would be lost, since it holds what is no formula."""
    etree.strip_elements(formula, "annotation", "annotation-xml", with_tail=False)
    tex = _kept(mathml.to_tex(formula) if len(formula) else formula.text or "")
    kept = all(word in tex for piece in formula.itertext() for word in _WORD.findall(str(piece)))
    return tex if kept else ""


def _noted(element: Element) -> Iterator[str]:
    for annotation in element.iter("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower():
            yield from filter(None, [_kept(annotation.text or "")])
    inner = next(element.iter("math", "mjx-math"), None)
    for place in filter(_is_element, (element, inner, _wrapper(element))):
        for name in _SOURCES:
            yield from filter(None, [_kept(place.get(name) or "")])


def _is_element(element: Element | None) -> TypeGuard[Element]:
    return element is not None


def _wrapper(element: Element) -> Element | None:
    """The parent, where it holds nothing else."""
    alone = element.getprevious() is None and element.getnext() is None
    return element.getparent() if alone else None


def _kept(tex: str) -> str:
    tex = strip_delimiters(tex)
    return "" if is_prose(tex) else tex


def _is_display(element: Element, classes: list[str]) -> bool:
    if not _DISPLAYED.isdisjoint(classes) or element.get("display") in ("true", "block"):
        return True
    formula = element if element.tag == "math" else next(element.iter("math"), None)
    if formula is not None:
        return formula.get("display") == "block" or formula.get("mode") == "display"
    return next((True for inner in element.iter() if "display" in (inner.get("class") or "")), False)


def _of_image(image: Element) -> str:
    """The TeX of a picture of a formula: its alternative text, or what its address asks a service for."""
    alt, source = (image.get("alt") or "").strip(), image.get("src") or ""
    classes = image.get("class") or ""
    if alt and (_ALT_TEX.search(alt) or re.search(r"\b(?:tex|latex|mwe-math\S*)\b", classes)):
        return _kept(strip_display_style(alt))
    if alt and not _TEX_IMAGE.search(source):
        return ""
    return _asked_for(source)


def _asked_for(source: str) -> str:
    """The formula in the query or in the last part of the path of a rendering service's address."""
    try:
        address = urlsplit(source)
        parameters = parse_qs(address.query)
    except ValueError:
        return ""
    for name in ("chl", "latex", "eq", "tex", "formula"):
        if name in parameters:
            return _kept(parameters[name][0].strip())
    for text in (address.query, address.path.rpartition("/")[2]):
        tex = _STYLING.sub("", _QUERY_PARAMETER.sub("", unquote(text))).strip()
        if "\\" in tex or (tex and text is address.query and _TEX_SERVICE.search(source)):
            return _kept(tex)
    return ""


def _replace(element: Element, tex: str, *, display: bool) -> None:
    """The element becomes the formula; one without TeX goes, its text's tail stays."""
    if not tex:
        remove(element)
        return
    tex = _TAG_LIKE.sub("< ", tex)
    tail = element.tail
    kept = {
        name: element.attrib[name]
        for name in ("id", "style", "hidden", "data-x-hidden")
        if name in element.attrib
    }
    if element.tag in ("script", "img"):
        kept.pop("style", None)
    element.clear()
    element.tag = "math"
    for name, value in kept.items():
        element.set(name, value)
    if display:
        element.set("display", "block")
    element.set(_SETTLED, "")
    element.text, element.tail = tex, tail
