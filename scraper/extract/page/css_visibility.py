"""What an inline style or a simple style sheet rule hides, told without a browser."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterable

_READABLE_PX = 4.0
"""Smaller text is there for machines."""

_SMALL_ZOOM = 0.2
_FAINT = 0.05
_FAINT_COLOUR = 0.1
_OFF_SCREEN_PX = -400.0
"""Nobody places a visible box this far out; -9999px and -999em are the usual ways to park text."""

_FAR_PX = 4_000.0
"""Carousels move their track by its width; beyond this nothing is on any screen."""

_LOW_CONTRAST = 1.1
_MAX_STYLE = 2_000
_MAX_CSS = 64_000
"""How much of a page's style sheets is looked at: rules that hide stand at the top, in what is inlined."""

_MAX_AT_RULES = 500
"""Beyond, nothing is taken as hidden: unclosed blocks cost the square of their number."""

_PX_PER_UNIT = {"": 1.0, "px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "%": 0.16, "vw": 12.8, "vh": 9.0}
# No number can be cut in two ways: a style of 2,000 zeros took 30 ms so, and a page may have thousands.
_LENGTH = re.compile(r"(-?(?:\d++(?:\.\d++)?|\.\d++))(px|pt|em|rem|%|vw|vh|)(?![a-z0-9])")
_ZERO_OPACITY = re.compile(r"opacity\(\s*+0*+(?:\.0*+)?%?\s*+\)")
_EMPTY_MASK = re.compile(r"linear-gradient\((?:to [a-z ]+,)?\s*transparent\s*,\s*transparent\s*\)")
_TRANSLATION = re.compile(r"translate(?:x|y|3d)?\(([^()]*)")
_ZERO_SCALE = re.compile(r"scale(?:3d|x|y)?\(\s*+(?:0++(?:\.0++)?|\.0++)\s*+[,)]")
_EMPTY_CLIP = re.compile(r"rect\(\s*([01])(?:px)?[\s,]+\1(?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)")
_EMPTY_CLIP_PATH = re.compile(
    r"circle\(\s*0|ellipse\(\s*0|polygon\(\s*0(?:px|%)?\s+0(?:px|%)?\s*(?:,\s*0(?:px|%)?\s+0(?:px|%)?\s*)*\)"
    r"|rect\(\s*0(?:px|%)?(?:\s+0(?:px|%)?){3}\s*\)|xywh\(\s*(?:[\w.%-]{1,20}\s+){2,3}0(?:px|%)?[\s)]"
    r"|path\(\s*[\"']\s*m[\d\s,.-]*+z?\s*+[\"']"
)
_INSET = re.compile(r"inset\(([^()]*)\)")
_PART = re.compile(r"\d++(?:\.\d++)?%?|\.\d++%?")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BEFORE_CLOSING = re.compile(r"(?<![^()])[^()]*+\)")
"""What stands before a closing bracket: white space in it parts no words."""
_MOVING = ("transition", "animation", "transform", "will-change")
"""A page that fades text in starts it at opacity 0; such text is meant to be read."""

Color = tuple[float, float, float, float]

_NAMED: dict[str, Color] = {
    "white": (255, 255, 255, 1),
    "black": (0, 0, 0, 1),
    "transparent": (0, 0, 0, 0),
    "red": (255, 0, 0, 1),
    "green": (0, 128, 0, 1),
    "blue": (0, 0, 255, 1),
    "yellow": (255, 255, 0, 1),
    "gray": (128, 128, 128, 1),
    "grey": (128, 128, 128, 1),
    "silver": (192, 192, 192, 1),
    "navy": (0, 0, 128, 1),
    "ivory": (255, 255, 240, 1),
    "snow": (255, 250, 250, 1),
    "whitesmoke": (245, 245, 245, 1),
    "ghostwhite": (248, 248, 255, 1),
}


def parse_declarations(style: str) -> dict[str, str]:
    """Properties and values of an inline style, in lower case and without `!important`."""
    found: dict[str, str] = {}
    text = style[:_MAX_STYLE]
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    if "\\" in text:
        text = _ESCAPE.sub(_escaped, text)
    for declaration in text.lower().split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            found[name.strip()] = value.replace("!important", "").strip()
    return found


def hides_text(style: dict[str, str]) -> bool:
    """Whether these declarations alone keep the text of their element out of sight."""
    return (
        _not_shown(style)
        or _too_small(style)
        or _off_screen(style)
        or _clipped(style)
        or _colourless(style)
        or (_faint(style) and not any(name in style for name in _MOVING))
    )


def find_background(style: dict[str, str]) -> Color | None:
    """The opaque background colour that a style sets, if it does."""
    for name in ("background-color", "background"):
        if name in style:
            words = _BEFORE_CLOSING.sub(lambda inside: ",".join(inside[0].split()), style[name]).split()
            colour = next(filter(None, map(_colour, words)), None)
            return colour if colour and colour[3] > 0.5 else None
    return None


def is_same_color(text: str, background: Color) -> bool:
    """Whether text of this colour cannot be told from its background (WCAG 2 contrast)."""
    colour = _colour(text)
    if colour is None:
        return False
    one, other = _luminance(colour), _luminance(background)
    return (max(one, other) + 0.05) / (min(one, other) + 0.05) < _LOW_CONTRAST


def parse_color(value: str) -> Color | None:
    """The colour in an HTML attribute such as `bgcolor`."""
    return _colour(value.strip().lower())


def _not_shown(style: dict[str, str]) -> bool:
    return (
        style.get("display") == "none"
        or style.get("visibility") in {"hidden", "collapse"}
        or style.get("content-visibility") == "hidden"
        or _ZERO_SCALE.search(style.get("transform", "")) is not None
        or _ZERO_OPACITY.search(style.get("filter", "")) is not None
        or _EMPTY_MASK.search(style.get("mask-image", style.get("mask", ""))) is not None
    )


def _too_small(style: dict[str, str]) -> bool:
    size, zoom = _px(style.get("font-size")), _number(style.get("zoom"))
    return (size is not None and size < _READABLE_PX) or (zoom is not None and zoom < _SMALL_ZOOM)


def _off_screen(style: dict[str, str]) -> bool:
    indent = _px(style.get("text-indent"))
    if (indent is not None and indent < _OFF_SCREEN_PX) or _moved_away(style.get("transform", "")):
        return True
    if style.get("position") not in {"absolute", "fixed"}:
        return False
    offsets = (_px(style.get(side)) for side in ("left", "top", "right", "bottom"))
    if any(offset is not None and offset < _OFF_SCREEN_PX for offset in offsets):
        return True
    left = style.get("left", "")
    beside = style["position"] == "fixed" and left.endswith("vw") and (_number(left[:-2]) or 0) >= 100
    return beside or (_px(left) or 0) > _FAR_PX


def _moved_away(transform: str) -> bool:
    moved = _TRANSLATION.search(transform)
    return moved is not None and any(
        abs(_px(part.strip()) or 0) > _FAR_PX for part in moved.group(1).split(",")
    )


def _clipped(style: dict[str, str]) -> bool:
    path = style.get("clip-path", "")
    if _EMPTY_CLIP.search(style.get("clip", "")) or (path and _clip_leaves_nothing(path)):
        return True
    if style.get("overflow") not in {"hidden", "clip"} or any(name.startswith("padding") for name in style):
        return False  # a box of no height with padding is how videos keep their shape
    sides = (_px(style.get(side)) for side in ("width", "height", "max-width", "max-height"))
    return any(side is not None and side < 2 for side in sides)


def _clip_leaves_nothing(path: str) -> bool:
    inset = _INSET.search(path)
    if inset is None:
        return _EMPTY_CLIP_PATH.search(path) is not None
    sides = inset[1].partition("round")[0].split() or ["0"]
    top, right, bottom, left = (*sides, sides[1]) if len(sides) == 3 else (sides * 4)[:4]
    return _share(top) + _share(bottom) >= 1 or _share(left) + _share(right) >= 1


def _share(side: str) -> float:
    """How much of a box an inset of this size takes away; of lengths only those beyond any box count."""
    if side.endswith("%"):
        return _number(side) or 0.0
    return 1.0 if (_px(side) or 0) > _FAR_PX else 0.0


def _faint(style: dict[str, str]) -> bool:
    opacity = _number(style.get("opacity"))
    return opacity is not None and opacity < _FAINT


def _colourless(style: dict[str, str]) -> bool:
    """Transparent text shows where the background is clipped to it, or where it casts a shadow."""
    if "background-clip" in style or "-webkit-background-clip" in style or "text-shadow" in style:
        return False
    colour = _colour(style.get("-webkit-text-fill-color") or style.get("color", ""))
    return colour is not None and colour[3] < _FAINT_COLOUR


def _escaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else ord(escape[2])
    return chr(code) if code <= 0x10FFFF else ""


def _number(value: str | None) -> float | None:
    try:
        return float(value.rstrip("%")) / (100 if value.endswith("%") else 1) if value else None
    except ValueError:
        return None


def _px(value: str | None) -> float | None:
    match = _LENGTH.match(value) if value else None
    return float(match.group(1)) * _PX_PER_UNIT[match.group(2)] if match else None


def _colour(value: str) -> Color | None:
    if value.startswith("#"):
        return _hex_colour(value[1:])
    if value.startswith("rgb"):
        parts = [_number(part) for part in re.findall(r"[\d.]+%?", value)]
        if len(parts) >= 3 and None not in parts:
            red, green, blue, alpha = (*parts, 1.0)[:4]
            return (red or 0, green or 0, blue or 0, 1.0 if alpha is None else alpha)
        return None
    if value.startswith("hsl"):
        return _from_hue(value)
    if value.startswith(("oklch(", "oklab(", "lch(", "lab(")):
        return _from_lightness(value)
    return _NAMED.get(value)


def _parts(value: str) -> list[float | None]:
    return [_number(part) for part in _PART.findall(value.partition("(")[2])]


def _from_hue(value: str) -> Color | None:
    parts = _parts(value)
    if len(parts) not in {3, 4} or None in parts:
        return None
    hue, saturation, lightness, alpha = (*(part or 0.0 for part in parts), 1.0)[:4]
    red, green, blue = colorsys.hls_to_rgb(hue / 360 % 1, min(lightness, 1.0), min(saturation, 1.0))
    return (red * 255, green * 255, blue * 255, alpha)


def _from_lightness(value: str) -> Color | None:
    """White, black and what is clear, the colours that text is hidden by; no other is made out."""
    parts = _parts(value)
    if len(parts) not in {3, 4} or None in parts:
        return None
    lightness, alpha = parts[0] or 0.0, parts[3] if len(parts) == 4 else 1.0
    whole = 1.0 if value.startswith("ok") or "%" in value.partition(" ")[0] else 100.0
    if alpha is not None and alpha < _FAINT_COLOUR:
        return (0, 0, 0, alpha)
    if 0.01 < lightness / whole < 0.99:
        return None
    return (255, 255, 255, 1) if lightness > whole / 2 else (0, 0, 0, 1)


def _hex_colour(digits: str) -> Color | None:
    if len(digits) in {3, 4}:
        digits = "".join(digit * 2 for digit in digits)
    if len(digits) not in {6, 8}:
        return None
    try:
        red, green, blue, alpha = bytes.fromhex(digits.ljust(8, "f"))
    except ValueError:
        return None
    return (red, green, blue, alpha / 255)


def _luminance(colour: Color) -> float:
    def linear(channel: float) -> float:
        share = min(channel / 255, 1.0)
        return share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])


_AT_BLOCK = re.compile(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_FOR_SCREENS = re.compile(r"@media\s+(?:only\s+)?(?:screen|all)\s*\{")
_RULE = re.compile(r"(?<![^{}])([^{}]++)\{([^{}]*+)\}")
"""It begins behind a brace: tried from each letter, a font that is cut off in its middle took 16 s."""
_NAME = re.compile(r"[.#][A-Za-z_-][\w-]*")
_SIMPLE = re.compile(r"\s*[.#][A-Za-z_-][\w-]*\s*")
_HIDES = re.compile(r"none|hidden|opacity|clip|-\d{3,}")
_SHOWS = re.compile(r"display|visibility|opacity|clip|left|text-indent|position")


def _hides_subtree(style: dict[str, str]) -> bool:
    """What no descendant can undo: sizes and colours are left out, which children often set anew."""
    faint = _faint(style) and not any(name in style for name in _MOVING)
    return _not_shown(style) or _off_screen(style) or _clipped(style) or faint


def find_hidden_selectors(sheets: Iterable[str]) -> frozenset[str]:
    """Classes and ids (`.a`, `#b`) that a rule of their own hides and no other rule may show again."""
    css = "\n".join(sheets)[:_MAX_CSS]
    if not _HIDES.search(css) or css.count("@") > _MAX_AT_RULES:
        return frozenset()
    css = _COMMENT.sub("", css)
    hidden: set[str] = set()
    shown: set[str] = set()
    for block in _AT_BLOCK.findall(css):
        if _FOR_SCREENS.match(block):
            css += block.partition("{")[2].removesuffix("}")
        else:
            shown.update(_names_shown(block))
    for selector, body in _RULE.findall(_AT_BLOCK.sub("", css)):
        if not _HIDES.search(body) and not _SHOWS.search(body):
            continue
        if _hides_subtree(parse_declarations(body)):
            hidden.update(part.strip() for part in selector.split(",") if _SIMPLE.fullmatch(part))
        else:
            shown.update(_NAME.findall(selector))
    return frozenset(hidden - shown)


def _names_shown(block: str) -> list[str]:
    rules = _RULE.findall(block.partition("{")[2])
    return [
        name
        for selector, body in rules
        if _SHOWS.search(body) and not _hides_subtree(parse_declarations(body))
        for name in _NAME.findall(selector)
    ]
