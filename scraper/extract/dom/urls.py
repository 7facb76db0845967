"""Addresses in a page made absolute, and fit to stand in Markdown."""

from __future__ import annotations

import re
from urllib.parse import urljoin

_MAX_CHARS = 2_000
"""Longer ones carry state or data for machines, and would fill an answer."""

_ABSOLUTE = re.compile(r"https?://[^\s/\\?#]+/[^\s\\]*", re.IGNORECASE)
_ORIGIN = re.compile(r"^https?://[^/?#]+", re.IGNORECASE)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:")
_KEPT_SCHEMES = ("http:", "https:", "mailto:", "tel:", "ftp:", "magnet:")
_UNSAFE = re.compile(r"[\s<>\x00-\x1f\x7f\"\u0080-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_LAZY = (
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-original-src",
    "data-orig-file",
    "data-actualsrc",
)
_PLACEHOLDER = re.compile(
    r"(?:placeholder|blank|spacer|lazy|transparent|1x1)[^/]*\.(?:gif|png|svg)", re.IGNORECASE
)
_PICTURE = re.compile(r"(?:https?:)?//?[^\s\"'<>]+\.(?:jpe?g|png|webp|gif|avif)(?:\?\S*)?", re.IGNORECASE)
_CANDIDATE = re.compile(r"[\s,]*+(\S++)(?:(?<=,)|\s*+(?:([\d.]+)([wx])(?![^\s,]))?[^,]*+)", re.ASCII)
"""As HTML parts a `srcset`: an address ends at white space, and its description at a comma."""
_MAX_SRCSET = 4_000
_BETWEEN = ", \t\n\r\f\v"


class UrlResolver:
    """Resolves the addresses of one page."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._page = base.partition("#")[0]
        self._origin = "".join(_ORIGIN.findall(base)[:1])
        self._known: dict[str, str] = {}

    def absolute(self, address: str | None) -> str:
        """An absolute address that Markdown can hold; empty for scripts, data and what nobody can follow."""
        if not address:
            return ""
        known = self._known.get(address)
        if known is None:
            known = self._known[address] = self._resolve(address.strip())
        return known

    def _resolve(self, address: str) -> str:
        if _SCHEME.match(address) and not address.lower().startswith(_KEPT_SCHEMES):
            return ""
        if len(address) > _MAX_CHARS:
            return ""
        try:
            return _for_markdown(self._joined(address))
        except ValueError:
            return ""

    def _joined(self, address: str) -> str:
        """As `urljoin`, which takes 14 us, with a short way for what nearly all addresses look like."""
        if "/." not in address:
            if address.startswith("#"):
                return self._page + address
            if address.startswith("/") and self._origin and not address.startswith("//"):
                return self._origin + address
            if _ABSOLUTE.fullmatch(address):
                return address
        return urljoin(self._base, address)


def find_image_source(attributes: dict[str, str], fallback_set: str = "") -> str:
    """Where the picture of an `img` really is: pages that load late keep a placeholder in `src`."""
    source = attributes.get("src", "")
    if source and not source.startswith("data:") and not _PLACEHOLDER.search(source[:_MAX_CHARS]):
        return source
    late = next((attributes[name] for name in _LAZY if attributes.get(name)), "")
    candidates = attributes.get("data-srcset") or attributes.get("srcset") or fallback_set
    return late or _largest(candidates) or _named_otherwise(attributes) or source


def _named_otherwise(attributes: dict[str, str]) -> str:
    """Any attribute that holds the address of a picture."""
    values = (value for name, value in attributes.items() if name not in ("src", "alt", "title"))
    return next((value for value in values if _PICTURE.fullmatch(value[:_MAX_CHARS])), "")


def _largest(candidates: str) -> str:
    best, widest = "", -1.0
    # Commas and blanks with nothing behind them would be gone through again from each.
    for match in _CANDIDATE.finditer(candidates[:_MAX_SRCSET].rstrip(_BETWEEN)):
        try:
            width = float(match.group(2) or 1) * (1000 if match.group(3) == "x" else 1)
        except ValueError:
            continue
        if width > widest:
            best, widest = match.group(1).rstrip(","), width
    return best


def _for_markdown(address: str) -> str:
    """White space and invisible characters encoded, brackets too where they do not pair."""
    if _UNSAFE.search(address):
        address = _UNSAFE.sub(
            lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), address
        )
    if ("(" in address or ")" in address) and not _pairs(address):
        address = address.replace("(", "%28").replace(")", "%29")
    return address


def _pairs(address: str) -> bool:
    """Whether every bracket that opens is closed, and none closes before."""
    depth = 0
    for character in address:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0
