"""Normalize URLs of pages, and recognize files, actions and languages from URLs."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qsl, quote, unquote, urlencode

import ada_url

_TRACKING = frozenset(
    "gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid mc_cid mc_eid _hsenc _hsmi mkt_tok "
    "ref_src srsltid cmpid ocid spm _ga _gl".split()
)
_TRACKING_PREFIXES = ("utm_", "vero_", "oly_", "pk_", "mtm_", "hsa_")
_SESSION_NAME = re.compile(
    r"(?:php)?sess(?:ion)?_?(?:id)?|s|sid|jsessionid|aspsessionid\w*|cfid|cftoken|zenid|oscsid", re.IGNORECASE
)
_SESSION_VALUE = re.compile(r"(?=.*\d)[0-9a-zA-Z]{16,}")
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid|cfid)=[^/;?]*", re.IGNORECASE)
_PLAIN_ESCAPE = re.compile(r"%(?:2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe])")
"""Escapes of letters, digits and `-._~`, which need no escape (RFC 3986, 2.3)."""
_ESCAPED_NAME = re.compile(r"(?:amp;)+")
"""Prefix of a parameter name after an ampersand that was escaped more than once: `?a=1&amp;amp;b=2`."""
_SLASHES = re.compile(r"/{2,}")
_INDEX_PAGE = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_FILE = re.compile(
    r"\.(?:png|jpe?g|gif|webp|avif|svg|ico|css|m?js|map|woff2?|ttf|otf|eot|mp[34]|webm|ogg|wav|avi|mov|zip|gz|tgz|bz2|xz|"
    r"7z|rar|exe|dmg|iso|apk|deb|rpm|jar|whl|wasm|ics|asc|sig|sha256|torrent|xml|rss|atom)$",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"(?:^|/)(?:login|log-in|signin|sign-in|signup|register|logout|logoff|cart|basket|checkout|wp-login|wp-admin|"
    r"password|trackback|xmlrpc|cgi-bin)(?:/|\.|$)|add[-_]to[-_](?:cart|wishlist)|"
    r"[?&](?:action|do)=(?:edit|history|login|reply|print)|"
    r"[?&](?:replytocom|share|print|add-to-cart|oldid|diff|printable)=",
    re.IGNORECASE,
)
_LANGUAGES = frozenset(
    "ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lt "
    "lv mk ml mn mr ms my nb ne nl nn no pa pl ps pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh".split()
)
_LANGUAGE_TAG = re.compile(r"([a-z]{2})(?:[-_](?:[a-z]{2}|hans|hant))?", re.IGNORECASE)
CACHED_URLS = 20_000
"""URLs whose key or pattern is cached, because most pages of a site repeat its navigation."""
_LANGUAGE_PARAMETERS = frozenset({"lang", "hl", "locale", "language"})


@lru_cache(CACHED_URLS)
def page_key(url: str) -> str:
    """Return a normalized URL, which is equal for different URLs of one page.

    It has no scheme, `www.`, fragment (except `#!` and `#/`), index page, repeated slash, repeated parameter,
    tracking parameter or session id. Its parameters are sorted, and the ampersands between them are not escaped.

    Raises:
        ValueError: The text is not an absolute URL.
    """
    parsed = ada_url.URL(url)
    path = _PLAIN_ESCAPE.sub(lambda match: unquote(match.group()), _PATH_SESSION.sub("", parsed.pathname))
    path = _INDEX_PAGE.sub("/", _SLASHES.sub("/", path))
    query_pairs = parse_qsl(parsed.search.removeprefix("?"), keep_blank_values=True)
    pairs = (
        (_ESCAPED_NAME.sub("", name, count=1) if name.startswith("amp;") else name, one) for name, one in query_pairs
    )
    query_pairs = sorted({pair for pair in pairs if not _is_noise(*pair)})
    query = "?" + urlencode(query_pairs, quote_via=quote) if query_pairs else ""
    route = parsed.hash if parsed.hash.startswith(("#!", "#/")) else ""
    return f"{site_host(parsed.host)}{path}{query}{route}"


def site_host(host: str) -> str:
    """Return a host, with its port if any, without `www.` and a final dot."""
    name, colon, port = host.partition(":")
    return f"{name.rstrip('.').removeprefix('www.')}{colon}{port}"


def is_file(url: str) -> bool:
    """Return True if the path has the suffix of a file that is not a page: an image, archive, style sheet or feed."""
    return _FILE.search(ada_url.URL(url).pathname) is not None


def is_action(url: str) -> bool:
    """Return True if the URL signs in, buys, edits or prints instead of showing a page."""
    parsed = ada_url.URL(url)
    return _ACTION.search(f"{parsed.pathname}{parsed.search}") is not None


def find_language(url: str) -> str:
    """Return the language code in the first two folders, first host label or a parameter of a URL, or ""."""
    parsed = ada_url.URL(url)
    values = (value for name, value in parse_qsl(parsed.search.removeprefix("?")) if name in _LANGUAGE_PARAMETERS)
    for part in (*parsed.pathname.split("/")[1:3], parsed.hostname.split(".")[0], *values):
        if code := parse_language(part):
            return code
    return ""


def parse_language(text: str) -> str:
    """Return the code of a language tag such as `pt-BR`, or "" if the text is none."""
    found = _LANGUAGE_TAG.fullmatch(text)
    code = found.group(1).lower() if found else ""
    return code if code in _LANGUAGES else ""


def _is_noise(name: str, value: str) -> bool:
    if name.lower() in _TRACKING or name.lower().startswith(_TRACKING_PREFIXES):
        return True
    return bool(_SESSION_NAME.fullmatch(name) and _SESSION_VALUE.fullmatch(value))
