"""Resolve the URLs of a page and escape them for Markdown."""

import re
from urllib.parse import urljoin

from scraper.html.dom.parsing import Element
from scraper.values.text import is_balanced

_MAX_CHARACTERS = 2_000
"""Characters. Longer URLs carry state or data for machines and would fill an answer."""

_ABSOLUTE = re.compile(r"https?://[^\s/\\?#]+/[^\s\\]*", re.IGNORECASE)
_ORIGIN = re.compile(r"^https?://[^/?#]+", re.IGNORECASE)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:")
_ALLOWED_SCHEMES = ("http:", "https:", "mailto:", "tel:", "ftp:", "magnet:")
_UNSAFE = re.compile(r"[\s<>\x00-\x1f\x7f\"\u0080-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_NO_BREAKS = str.maketrans("", "", "\t\n\r")
"""URLs lose these characters (url.spec.whatwg.org)."""
_LAZY_ATTRIBUTES = "data-src data-lazy-src data-original data-original-src data-orig-file data-actualsrc".split()
_PLACEHOLDER = re.compile(r"(?:placeholder|blank|spacer|lazy|transparent|1x1)[^/]*\.(?:gif|png|svg)", re.IGNORECASE)
_PICTURE = re.compile(r"(?:https?:)?//?[^\s\"'<>]+\.(?:jpe?g|png|webp|gif|avif)(?:\?\S*)?", re.IGNORECASE)
_CANDIDATE = re.compile(r"[\s,]*+(\S++)(?:(?<=,)|\s*+(?:([\d.]+)([wx])(?![^\s,]))?[^,]*+)", re.ASCII)
"""One candidate of a `srcset`. As in HTML, a URL ends at white space and its description at a comma."""
_MAX_SRCSET = 4_000
_CANDIDATE_SEPARATORS = ", \t\n\r\f\v"


class UrlResolver:
    """Resolves the URLs of one page and caches the results."""

    def __init__(self, base: str) -> None:
        """Resolve against the URL `base`."""
        self._base = base
        self._page = base.partition("#")[0]
        self._origin = "".join(_ORIGIN.findall(base)[:1])
        self._resolved: dict[str, str] = {}

    def absolute(self, address: str | None) -> str:
        """Return an absolute URL that is safe in Markdown, or "" for scripts, data and unusable URLs."""
        if not address:
            return ""
        url = self._resolved.get(address)
        if url is None:
            url = self._resolved[address] = self._resolve(address.strip().translate(_NO_BREAKS))
        return url

    def _resolve(self, address: str) -> str:
        is_refused = _SCHEME.match(address) and not address.lower().startswith(_ALLOWED_SCHEMES)
        if is_refused or len(address) > _MAX_CHARACTERS:
            return ""
        # Shortcuts for the usual forms: `urljoin` takes 14 us.
        has_dots = "/." in address
        if address.startswith("#") and not has_dots:
            url = self._page + address
        elif address.startswith("/") and self._origin and not address.startswith("//") and not has_dots:
            url = self._origin + address
        elif _ABSOLUTE.fullmatch(address) and not has_dots:
            url = address
        else:
            try:
                url = urljoin(self._base, address)
            except ValueError:
                return ""
        # Percent-encode white space and invisible characters, and parentheses if they are not balanced.
        if _UNSAFE.search(url):
            url = _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), url)
        if not is_balanced(url, "(", ")"):
            url = url.replace("(", "%28").replace(")", "%29")
        return url


def find_image_source(image: Element, fallback_set: str = "") -> str:
    """Return the likely real URL of an image, unresolved; `src` itself, even a placeholder, if there is no other.

    `fallback_set` replaces a missing `srcset`.
    """
    attributes = {str(name): str(value) for name, value in image.attrib.items()}
    source = attributes.get("src", "")
    if source and not source.startswith("data:") and not _PLACEHOLDER.search(source[:_MAX_CHARACTERS]):
        return source
    late = next((attributes[name] for name in _LAZY_ATTRIBUTES if attributes.get(name)), "")
    candidates = attributes.get("data-srcset") or attributes.get("srcset") or fallback_set
    others = (value for name, value in attributes.items() if name not in ("src", "alt", "title"))
    pictures = (value for value in others if _PICTURE.fullmatch(value[:_MAX_CHARACTERS]))
    return late or _find_largest_candidate(candidates) or next(pictures, source)


def _find_largest_candidate(candidates: str) -> str:
    best, widest = "", -1.0
    # Without the strip, each trailing comma or blank would start a new scan of the rest.
    for match in _CANDIDATE.finditer(candidates[:_MAX_SRCSET].rstrip(_CANDIDATE_SEPARATORS)):
        try:
            width = float(match.group(2) or 1) * (1000 if match.group(3) == "x" else 1)
        except ValueError:
            continue
        if width > widest:
            best, widest = match.group(1).rstrip(","), width
    return best
