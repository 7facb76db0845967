"""Detect text that CSS declarations hide, without a browser."""

import colorsys
import re

from scraper.html.page.style_sheets import COMMENT, unescape
from scraper.values.text import read_table

_READABLE_PX = 4.0
"""Pixels. Smaller text is not meant for readers."""
_SMALL_ZOOM = 0.2
_MIN_OPACITY = 0.05
_MIN_COLOR_ALPHA = 0.1
_MIN_LETTER_SPACING_PX = -6.0
"""Pixels. Letters are about half their size apart, so they lie on each other."""
_OFF_SCREEN_PX = -400.0
"""Pixels. No visible box is this far out; -9999px and -999em are the usual ways to hide text."""

_FAR_AWAY_PX = 4_000.0
"""Pixels. Carousels move their track by its width; nothing beyond this is on any screen."""

_LOW_CONTRAST = 1.1
_MAX_STYLE = 2_000
_MAX_COLOR = 200
"""Characters of a color that are read. Colors nest, and attributes such as `bgcolor` have any length."""
_PX_PER_UNIT = {"": 1.0, "px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "%": 0.16, "vw": 12.8, "vh": 9.0}
# Possessive: no number matches in two ways. A style of 2,000 zeros took 30 ms, and a page may have thousands.
_LENGTH = re.compile(r"(-?(?:\d++(?:\.\d++)?|\.\d++))(px|pt|em|rem|%|vw|vh|)(?![a-z0-9])")
_ZERO_OPACITY = re.compile(r"opacity\(\s*+0*+(?:\.0*+)?%?\s*+\)")
_EMPTY_MASK = re.compile(r"linear-gradient\((?:to [a-z ]+,)?\s*transparent\s*,\s*transparent\s*\)")
_TRANSLATION = re.compile(r"translate(?:x|y|3d)?\(([^()]*)")
_FLAT = re.compile(
    r"scale(?:3d|x|y)?\(\s*+(?=[\d.])(?:0*+(?:\.0\d*+)?|\de-\d++)\s*+[,)]|matrix\((?:\s*+0\s*+,){4}"
    r"|(?:rotate[xy]|skew[xy]?)\(\s*+-?(?:90|270)deg"
)
"""Transforms to a size near zero, or to a plane that is seen from its edge."""
_FLAT_ROTATION = re.compile(r"(?:[xy]|1 0 0|0 1 0)\s++-?(?:90|270)deg")
_CALC = re.compile(r"(?:calc|min)\(\s*+(-?[\d.]++(?:px|pt|r?em|%|v[wh])?)\s*+[,)]")
"""A calculation of one number, or the first number of a minimum."""
_FONT_SIZE = re.compile(r"(?<![\w.#-])(\d++(?:\.\d++)?|\.\d++)(px|pt|em|rem|%|)(?=[\s/]|\Z)")
"""Size in the shorthand `font`, or its weight."""
IMPORTANT = re.compile(r"!\s*+important", re.IGNORECASE)
_EMPTY_CLIP = re.compile(r"rect\(\s*([01])(?:px)?[\s,]+\1(?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)")
_EMPTY_CLIP_PATH = re.compile(
    r"circle\(\s*0|ellipse\(\s*0|polygon\(\s*0(?:px|%)?\s+0(?:px|%)?\s*(?:,\s*0(?:px|%)?\s+0(?:px|%)?\s*)*\)"
    r"|rect\(\s*0(?:px|%)?(?:\s+0(?:px|%)?){3}\s*\)|xywh\(\s*(?:[\w.%-]{1,20}\s+){2,3}0(?:px|%)?[\s)]"
    r"|path\(\s*[\"']\s*m[\d\s,.-]*+z?\s*+[\"']"
)
_INSET = re.compile(r"inset\(([^()]*)\)")
_PART = re.compile(r"\d++(?:\.\d++)?%?|\.\d++%?")
_BEFORE_CLOSING = re.compile(r"(?<![^()])[^()]*+\)")
"""Text before a closing bracket, in which white space does not separate words."""
_SIDES = ("top", "right", "bottom", "left")
_SIZES = ("width", "height", "inline-size", "block-size")
_MOVING = ("transition", "animation", "transform", "will-change")
"""Properties of animations. A page that fades text in starts it at opacity 0; such text is visible later."""

_HIDING_PROPERTIES = frozenset(
    "display visibility content-visibility content transform translate scale rotate zoom filter mask mask-image "
    "opacity position text-indent letter-spacing margin-left margin-top clip clip-path overflow overflow-x overflow-y "
    "contain".split()
)
"""Properties of which one is necessary to hide an element with its descendants."""
_TOP_COMMA = re.compile(r",(?![^()]*\))")
_SHARE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)%\s*$")

Color = tuple[float, float, float, float]
"""Red, green and blue from 0 to 255, and alpha from 0 to 1."""

_HEX_BY_COLOR: dict[str, str] = read_table(__package__, "colors.toml")


def parse_declarations(style: str) -> dict[str, str]:
    """Return the properties and values of an inline style, in lower case and without `!important`.

    The shorthands `font`, `inset` and `margin` also set the size of the font and the four sides.
    """
    found: dict[str, str] = {}
    text = style[:_MAX_STYLE]
    if "/*" in text:
        text = COMMENT.sub(" ", text)
    for declaration in unescape(text).lower().split(";"):
        name, colon, value = declaration.partition(":")
        if not colon:
            continue
        name, value = name.strip(), (IMPORTANT.sub("", value) if "!" in value else value).strip()
        found[name] = value
        if name == "font":
            # A number without a unit is a weight, except 0.
            sizes = (number + unit for number, unit in _FONT_SIZE.findall(value) if unit or not float(number))
            found["font-size"] = next(sizes, "")
        elif name in ("inset", "margin"):
            prefix = "" if name == "inset" else "margin-"
            found |= {prefix + side: size for side, size in zip(_SIDES, _expand_sides(value), strict=True)}
    return found


def _expand_sides(value: str) -> tuple[str, str, str, str]:
    """Return the values of the four sides in a shorthand: top, right, bottom and left."""
    sides = value.split()[:4] or [""]
    top, right, bottom, left = (*sides, sides[1]) if len(sides) == 3 else (sides * 4)[:4]
    return top, right, bottom, left


def hides_text(style: dict[str, str]) -> bool:
    """Return True if these declarations alone hide the text of their element."""
    return hides_subtree(style) or hides_own_text(style)


def hides_own_text(style: dict[str, str]) -> bool:
    """Return True if the size or the color of the text hides it."""
    if is_too_small(style):
        return True
    if "background-clip" in style or "-webkit-background-clip" in style or "text-shadow" in style:
        return False  # transparent text shows its background or its shadow
    color = parse_color(style.get("-webkit-text-fill-color") or style.get("color", ""))
    return color is not None and color[3] < _MIN_COLOR_ALPHA


def hides_subtree(style: dict[str, str]) -> bool:
    """Return True if the declarations hide an element with its descendants.

    Sizes and colors are ignored, because children often set their own. `visibility` counts, although a child can
    undo it.
    """
    if _HIDING_PROPERTIES.isdisjoint(style):
        return False
    return _is_not_displayed(style) or _is_off_screen(style) or _is_clipped(style) or is_faint(style)


def find_background(style: dict[str, str]) -> Color | None:
    """Return the background color that a style sets if its alpha is over .5, else None."""
    value = style.get("background-color", style.get("background", ""))
    words = _BEFORE_CLOSING.sub(lambda inside: ",".join(inside[0].split()), value).split()
    color = next(filter(None, map(parse_color, words)), None)
    return color if color and color[3] > 0.5 else None


def is_same_color(text: str, background: Color) -> bool:
    """Return True if text of this color is unreadable on its background: WCAG 2 contrast under `_LOW_CONTRAST`.

    Return False if the color cannot be parsed.
    """
    color = parse_color(text)
    if color is None:
        return False
    one, other = _luminance(color), _luminance(background)
    return (max(one, other) + 0.05) / (min(one, other) + 0.05) < _LOW_CONTRAST


def _is_not_displayed(style: dict[str, str]) -> bool:
    return (
        style.get("display") == "none"
        or style.get("visibility") in {"hidden", "collapse"}
        or style.get("content-visibility") == "hidden"
        or _FLAT.search(style.get("transform", "")) is not None
        or _FLAT.match(f"scale({style.get('scale', '').partition(' ')[0] or 1})") is not None
        or _FLAT_ROTATION.search(style.get("rotate", "")) is not None
        or (_parse_number(style.get("zoom")) or 1.0) < _SMALL_ZOOM
        or style.get("content", "").startswith("url(")
        or _ZERO_OPACITY.search(style.get("filter", "")) is not None
        or _EMPTY_MASK.search(style.get("mask-image", style.get("mask", ""))) is not None
    )


def is_too_small(style: dict[str, str]) -> bool:
    """Return True if the size of the font is not readable."""
    size = _parse_length(style.get("font-size"))
    return size is not None and size < _READABLE_PX


def _is_off_screen(style: dict[str, str]) -> bool:
    has_padding = any(name.startswith("padding") for name in style)
    moved = _TRANSLATION.search(style.get("transform", ""))
    moves = (moved.group(1).split(",") if moved else []) + style.get("translate", "").split()
    if (
        any(abs(_parse_length(part.strip()) or 0) > _FAR_AWAY_PX for part in moves)
        or _px(style, "text-indent") < _OFF_SCREEN_PX
        or _px(style, "letter-spacing") < _MIN_LETTER_SPACING_PX
        or (min(_px(style, "margin-left"), _px(style, "margin-top")) < -_FAR_AWAY_PX and not has_padding)
    ):
        return True
    position, left = style.get("position"), style.get("left", "")
    if position not in {"absolute", "fixed"}:
        return False
    is_beside = position == "fixed" and left.endswith("vw") and (_parse_number(left[:-2]) or 0) >= 100
    return is_beside or _px(style, "left") > _FAR_AWAY_PX or any(_px(style, side) < _OFF_SCREEN_PX for side in _SIDES)


def _px(style: dict[str, str], name: str) -> float:
    return _parse_length(style.get(name)) or 0.0


def _is_clipped(style: dict[str, str]) -> bool:
    path = style.get("clip-path", "")
    if _EMPTY_CLIP.search(style.get("clip", "")) or (path and _is_empty_clip_path(path)):
        return True
    overflow = f"{style.get('overflow', '')} {style.get('overflow-x', '')} {style.get('overflow-y', '')}".split()
    clips = not {"hidden", "clip"}.isdisjoint(overflow)
    clips = clips or not {"strict", "content", "paint"}.isdisjoint(style.get("contain", "").split())
    if any(name.startswith("padding") for name in style) or not clips:
        return False  # videos keep their aspect ratio by a box of no height with padding
    indent = style.get("text-indent", "")
    if indent.endswith("%") and (_parse_number(indent) or 0) >= 1 and style.get("white-space") == "nowrap":
        return True
    sizes = (_parse_length(style.get(limit + side)) for limit in ("", "max-") for side in _SIZES)
    return any(size is not None and size < 2 for size in sizes)


def _is_empty_clip_path(path: str) -> bool:
    inset = _INSET.search(path)
    if inset is None:
        return _EMPTY_CLIP_PATH.search(path) is not None
    # Lengths count only beyond any box size.
    top, right, bottom, left = (
        (_parse_number(side) or 0.0) if side.endswith("%") else float((_parse_length(side) or 0) > _FAR_AWAY_PX)
        for side in _expand_sides(inset[1].partition("round")[0])
    )
    return top + bottom >= 1 or left + right >= 1


def is_faint(style: dict[str, str]) -> bool:
    """Return True if the opacity is near zero and nothing animates it."""
    opacity = _parse_number(style.get("opacity"))
    return opacity is not None and opacity < _MIN_OPACITY and not any(name in style for name in _MOVING)


def _parse_number(value: str | None) -> float | None:
    if value and "(" in value:
        value = _CALC.sub(r"\1 ", value).partition(" ")[0]
    try:
        return float(value.rstrip("%")) / (100 if value.endswith("%") else 1) if value else None
    except ValueError:
        return None


def _parse_length(value: str | None) -> float | None:
    match = _LENGTH.match(_CALC.sub(r"\1 ", value) if "(" in value else value) if value else None
    return float(match.group(1)) * _PX_PER_UNIT[match.group(2)] if match else None


def parse_color(value: str) -> Color | None:
    """Return the color of a CSS value or an HTML attribute such as `bgcolor`, or None if it is unknown."""
    value = value.strip().lower()[:_MAX_COLOR]
    if value.startswith("#"):
        return _parse_hex(value[1:])
    if value.startswith(("light-dark(", "color-mix(")):
        return _parse_color_of_colors(value)
    parts = [_parse_number(part) for part in _PART.findall(value.partition("(")[2])]
    if len(parts) not in {3, 4} or None in parts:
        return _parse_hex(_HEX_BY_COLOR.get(value, ""))
    first, second, third, alpha = (*(part or 0.0 for part in parts), 1.0)[:4]
    if value.startswith("rgb"):
        return (first, second, third, alpha)
    if value.startswith("color(srgb"):
        return (first * 255, second * 255, third * 255, alpha)
    if value.startswith("hsl"):
        red, green, blue = colorsys.hls_to_rgb(first / 360 % 1, min(third, 1.0), min(second, 1.0))
        return (red * 255, green * 255, blue * 255, alpha)
    if value.startswith(("oklch(", "oklab(", "lch(", "lab(")):
        lightness = first if value.startswith("ok") or "%" in value.partition(" ")[0] else first / 100
        if alpha < _MIN_COLOR_ALPHA:
            return (0, 0, 0, alpha)
        # Of the opaque ones, only white and black hide text.
        return None if 0.01 < lightness < 0.99 else (255, 255, 255, 1) if lightness > 0.5 else (0, 0, 0, 1)
    return None


def _parse_color_of_colors(value: str) -> Color | None:
    """Return the first color of `light-dark()`, or the mean of two in `color-mix()`, which is exact for sRGB only."""
    name, _, inner = value.removesuffix(")").partition("(")
    arguments = [argument.strip() for argument in _TOP_COMMA.split(inner)]
    if name == "light-dark":
        return parse_color(arguments[0])
    colors: list[tuple[Color, float | None]] = []
    for argument in arguments[1:3]:
        share = _SHARE.search(argument)
        color = parse_color(_SHARE.sub("", argument))
        if color is None:
            return None
        colors.append((color, float(share[1]) / 100 if share else None))
    if len(colors) != 2:
        return None
    (first, own), (second, other) = colors
    weight = own if own is not None else 1 - other if other is not None else 0.5
    red, green, blue, alpha = (one * weight + two * (1 - weight) for one, two in zip(first, second, strict=True))
    return (red, green, blue, alpha)


def _parse_hex(digits: str) -> Color | None:
    if len(digits) in {3, 4}:
        digits = "".join(digit * 2 for digit in digits)
    if len(digits) not in {6, 8}:
        return None
    try:
        red, green, blue, alpha = bytes.fromhex(digits.ljust(8, "f"))
    except ValueError:
        return None
    return (red, green, blue, alpha / 255)


def _luminance(color: Color) -> float:
    def linear(channel: float) -> float:
        share = min(channel / 255, 1.0)
        return share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2])
