"""Parse, check and compare URLs with the parser that browsers use, so that the checked URL is the visited URL.

URLs are compared by keys of three strengths. Each makes equal what the one before makes equal:

- `request_key`: one request to the server.
- `page_key`: one page of a site. It is stored. The crawl of a site learns further differences that do not matter there.
- `result_key`: one result of several searches, also in its mobile and AMP forms.
"""

import functools
import re
import secrets
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urljoin, urlsplit

import ada_url

from browsers.model import registrable_domain
from scraper.errors import InvalidUrlError
from scraper.values.text import truncate

MAX_URL_CHARS = 8_000
"""Characters. Servers commonly reject request lines above 8 kB."""
_MAX_HOST_CHARS = 253
"""Characters of a host name (RFC 1035, 2.3.4)."""
_ECHO_CHARS = 120
"""Characters of an invalid argument that an error message repeats."""
_HOSTS_REMEMBERED = 1_024
"""Hosts in the cache, because several steps look up the host of a page."""
_SCHEMES = frozenset(
    "about blob chrome chrome-extension data devtools file filesystem ftp git irc jar javascript ldap magnet "
    "mailto resource sftp sms smb ssh tel telnet urn vbscript view-source ws wss".split()
)
"""Schemes used without `//`. Any other text before a colon is probably a search operator."""
_WEB_URL = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_NO_SCHEME_SIGNS = str.maketrans("", "", "+.-")
_HOST_LIKE = re.compile(
    r"(?:[^\s/?#:@.]+\.)+(?:[a-zA-Z]{2,63}|xn--[a-zA-Z0-9-]+|[^\x00-\x7f\s/?#:@.]{2,})\.?(?::\d{1,5})?(?:[/?#]|$)"
)
_ADDRESS_LIKE = re.compile(
    r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:[/?#]|$)", re.IGNORECASE
)
_QUOTED = re.compile(r"""<(https?:[^>]+)>|(["'`])(https?:.+)\2""", re.IGNORECASE)
"""A URL in quotes or brackets, as in texts and shells."""
_INVISIBLE = re.compile(
    # Control characters, which parsers drop, and characters that make a text look like another.
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)

_EXAMPLE = "Give an absolute URL such as https://example.com/page."


def parse_target(text: str) -> str:
    """Return the canonical absolute http(s) URL in `text`, which may be in quotes or angle brackets.

    Raises:
        InvalidUrlError: the text is not such a URL; the message says why and what to pass instead.
    """
    target = text.strip(" \t\r\n\f")
    if (quoted := _QUOTED.fullmatch(target)) is not None:
        target = quoted[1] or quoted[3]
    if not target:
        raise _error("The URL is empty.", target)
    if len(target) > MAX_URL_CHARS:
        raise _too_long_error(target)
    if _INVISIBLE.search(target):
        raise _error(
            f"{_quote(target)} contains control or invisible characters.", target, "Give the URL without them."
        )
    if not target.lower().startswith(("http:", "https:")):
        raise _not_a_web_url_error(target)
    _reject_ambiguous(target)
    try:
        url = ada_url.URL(target)
    except ValueError:
        raise _error(f"{_quote(target)} is not a valid URL.", target) from None
    if len(url.hostname.rstrip(".")) > _MAX_HOST_CHARS:
        raise _error(f"{_quote(target)} has a host name that no host can have.", target)
    canonical: str = url.href
    if len(canonical) > MAX_URL_CHARS:
        raise _too_long_error(target)
    return canonical


def guess_urls(text: str) -> tuple[str, str]:
    """Return the likeliest URL of an address without a scheme, and its URL with the other scheme.

    The second URL is empty for an IP address. Any other text is returned unchanged, with an empty second URL.
    """
    if _ADDRESS_LIKE.match(text):
        return f"http://{text}", ""
    host = _HOST_LIKE.match(text)
    if host is None:
        return text, ""
    urls = f"https://{text}", f"http://{text}"
    return (urls[1], urls[0]) if ":" in host.group() else urls


def parse_address(text: str) -> tuple[str, str]:
    """Return the results of `guess_urls` as canonical URLs.

    Raises:
        InvalidUrlError: See `parse_target`.
    """
    url, other = guess_urls(text)
    return parse_target(url), other and parse_target(other)


@functools.lru_cache(maxsize=_HOSTS_REMEMBERED)
def host_of(url: str) -> str:
    """Return the host of a canonical URL in lower case, without port and trailing dot, or an empty string."""
    try:
        host: str = ada_url.URL(url).hostname
    except ValueError:
        return ""
    return host.rstrip(".")


def same_site(one: str, other: str) -> bool:
    """Return True if two canonical URLs belong to one registrable domain."""
    site, other_site = (host and registrable_domain(host) for host in map(host_of, (one, other)))
    return bool(site) and site == other_site


def _reject_ambiguous(target: str) -> None:
    """Reject URLs that parsers interpret differently."""
    if not _WEB_URL.match(target):
        scheme, _, rest = target.partition(":")
        host = rest.lstrip("/\\")
        is_host_likely = host and not host.startswith(("?", "#"))
        hint = f"Did you mean {_quote(scheme.lower() + '://' + host)}?" if is_host_likely else _EXAMPLE
        raise _error(f"{_quote(target)} has no host after `{scheme.lower()}://`.", target, hint)
    before_query = target.partition("?")[0].partition("#")[0]
    if "\\" in before_query:
        raise _error(f"{_quote(target)} contains a backslash.", target, "Write / instead.")
    authority = before_query.split("://", 1)[1].split("/", 1)[0]
    if "@" in authority:
        next_step = "Give the URL without the part before @."
        raise _error(f"{_quote(target)} has a user name before its host.", target, next_step)
    if any(map(str.isspace, authority)):
        next_step = f"{_EXAMPLE} For a question use `search`."
        raise _error(f"{_quote(target)} has a space in its host name.", target, next_step)


def _not_a_web_url_error(target: str) -> InvalidUrlError:
    """Return the error for a text that does not start with http: or https:."""
    has_space = any(map(str.isspace, target))
    bare = target[2:] if target.startswith("//") else target
    if not has_space and (_HOST_LIKE.match(bare) or _ADDRESS_LIKE.match(bare)):
        likely = "http" if _ADDRESS_LIKE.match(bare) else "https"
        return _error(f"{_quote(target)} has no scheme.", target, f"Did you mean {_quote(f'{likely}://{bare}')}?")
    has_drive = target[:1].isalpha() and target[1:3] in {":\\", ":/"}
    if not has_space and (has_drive or target.startswith(("/", "~/", "./", "../"))):
        return _error(f"{_quote(target)} is a path, not a URL.", target)
    name, colon, rest = target.partition(":")
    name = name.lower()
    is_scheme = name[:1].isalpha() and name.isascii() and name.translate(_NO_SCHEME_SIGNS).isalnum()
    if colon and ((is_scheme and rest.startswith("//")) or (name in _SCHEMES and not has_space)):
        return _error(f"`{name}:` URLs are not fetched, only http: and https:.", target)
    next_step = "Search finds pages; then fetch one of their URLs."
    return _error(f"{_quote(target)} looks like a search query: use the `search` tool.", target, next_step)


def _too_long_error(target: str) -> InvalidUrlError:
    return _error(f"The URL is longer than {MAX_URL_CHARS:,} characters.", target, "Give a shorter URL.")


def _error(message: str, target: str, next_step: str = _EXAMPLE) -> InvalidUrlError:
    return InvalidUrlError(message, target=_truncate_visible(target), next_step=next_step)


def _quote(text: str) -> str:
    return f'"{_truncate_visible(text)}"'


def _truncate_visible(text: str) -> str:
    return truncate(_INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", text), _ECHO_CHARS)


def join_url(base: str, address: str) -> str:
    """Join an address with a base URL; return the address itself if it cannot be parsed as a URL."""
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return address


_MAX_LINK_HEADER = 20_000


def parse_link_header(value: str, url: str) -> list[dict[str, str]]:
    """Return the links of a `Link` header (RFC 8288) of `url`: attributes as in HTML, `href` absolute."""
    links = []
    for part in re.split(r",(?=\s*<)", value[:_MAX_LINK_HEADER]):
        address, end, rest = part.strip().removeprefix("<").partition(">")
        pairs = (pair.partition("=")[::2] for pair in rest.split(";"))
        if end:
            attributes = {name.strip().lower(): text.strip().strip('"') for name, text in pairs}
            links.append(attributes | {"href": join_url(url, address)})
    return links


_MAX_WEB_URL_CHARS = 16_000
"""Characters. Redirects of search engines contain other URLs and are longer than `MAX_URL_CHARS`."""


def split_url(url: str) -> SplitResult | None:
    """Split a URL; return None if it is invalid."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port
    except ValueError:
        return None
    return parts


def is_web_url(url: str) -> bool:
    """Return True if a text is an http or https URL of at most 16,000 characters."""
    found = _WEB_URL.match(url) if len(url) <= _MAX_WEB_URL_CHARS else None
    return found is not None and not found[0][-1].isspace() and split_url(url) is not None


_TRACKING = frozenset(
    "gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid mc_cid mc_eid _hsenc _hsmi mkt_tok "
    "ref_src srsltid cmpid ocid spm _ga _gl".split()
)
"""Query parameters that identify the source of a visit."""
_TRACKING_PREFIXES = ("utm_", "vero_", "oly_", "pk_", "mtm_", "hsa_")
_RESULT_TRACKING = frozenset("ref_url wfr oc si sca_esv amp=1 amp= outputtype=amp".split())
"""Parameters, some with a value, that make no other result of a search. On some sites, they make another page."""
_SESSION_NAMES = frozenset(
    "s sid phpsess phpsess_ phpsessid phpsess_id phpsession phpsession_ phpsessionid phpsession_id sess sess_ sessid "
    "sess_id session session_ sessionid session_id jsessionid cfid cftoken zenid oscsid".split()
)
_MIN_SESSION_VALUE = 16
"""Letters and digits of a session id."""
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid|cfid)=[^/;?]*", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_INDEX_PAGES = frozenset(
    f"{name}.{suffix}" for name in ("index", "default") for suffix in ("htm", "html", "php", "asp", "aspx", "jsp")
)
_VIDEOS, _VIDEO_LINKS = "youtube.com", "youtu.be"
_SAME_SITES = {_VIDEO_LINKS: _VIDEOS, "old.reddit.com": "reddit.com", "new.reddit.com": "reddit.com"}
_MOBILE_LABELS = frozenset({"www", "m", "mobile", "amp"})
_AMP_CACHE = re.compile(
    r"(?:(?:.+\.)?cdn\.ampproject\.org/[cvi]|(?:www\.)?google\.[a-z.]{2,6}/amp)/(?:s/)?(?P<page>.*)", re.DOTALL
)
"""Host and path of a page in an AMP cache."""
CACHED_URLS = 20_000
"""URLs whose key or pattern is cached, because most pages of a site repeat its navigation."""


def request_key(url: str) -> str:
    """Return a canonical URL without its fragment, unless scripts route by it (#! or #/)."""
    page, mark, fragment = url.partition("#")
    return url if mark and fragment.startswith(("!", "/")) else page


@functools.lru_cache(CACHED_URLS)
def page_key(url: str) -> str:
    """Return a normalized URL, which is equal for different URLs of one page.

    It has no scheme, `www.`, fragment (except `#!` and `#/`), index page, repeated slash, repeated parameter,
    tracking parameter or session id. Its parameters are sorted, and the ampersands between them are not escaped.

    Raises:
        ValueError: The text is not an absolute URL.
    """
    parsed = ada_url.URL(url)
    query = _normalize_query(parsed.search)
    return f"{site_host(parsed.host)}{_normalize_path(parsed.pathname)}{query}{_route_of(parsed)}"


def result_key(url: str) -> str:
    """Return the key of a search result, or the text itself if it is not an http(s) URL.

    It ignores what `page_key` ignores, and mobile hosts, AMP, a final slash, the case of escapes, and the second at
    which a video starts.
    """
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return url.strip()
    if parsed.protocol not in {"http:", "https:"}:
        return url.strip()
    if (cached := _AMP_CACHE.fullmatch(f"{parsed.hostname}{parsed.pathname}")) is not None:
        return result_key(f"https://{cached['page']}{parsed.search}")
    port = f":{parsed.port}" if parsed.port and parsed.port not in {"80", "443"} else ""
    path = _normalize_path(parsed.pathname, upper=True)
    # Without the final slash, `amp` may be any word.
    path = path.removesuffix("/amp/").rstrip("/")
    host = _drop_mobile_labels(_SAME_SITES.get(parsed.hostname, parsed.hostname))
    if parsed.hostname == _VIDEO_LINKS:
        return result_key(f"https://{host}/watch?v={path.removeprefix('/')}&{parsed.search.removeprefix('?')}")
    query = _normalize_query(parsed.search, _RESULT_TRACKING | ({"t"} if host == _VIDEOS else set()))
    return f"{host}{port}{path}{query}{_route_of(parsed).partition(':~:')[0]}"


def site_host(host: str) -> str:
    """Return a host, with its port if any, without `www.` and a final dot."""
    name, colon, port = host.partition(":")
    return f"{name.rstrip('.').removeprefix('www.')}{colon}{port}"


def host_key(url: str) -> str:
    """Return the host without www, m, mobile and amp; empty if there is none."""
    return _drop_mobile_labels(host_of(url))


def _drop_mobile_labels(host: str) -> str:
    host = host.rstrip(".")
    domain = registrable_domain(host)
    labels = host.removesuffix(domain).split(".")
    return ".".join(label for label in labels if label not in _MOBILE_LABELS) + domain


def _route_of(parsed: ada_url.URL) -> str:
    """Return the fragment if it selects a page of an application; others select a place in the page."""
    return str(parsed.hash) if parsed.hash.startswith(("#!", "#/")) else ""


def _normalize_path(path: str, *, upper: bool = False) -> str:
    """Return a path without escapes of letters, digits and `-._~`, which need none (RFC 3986, 2.3)."""

    def normalize(escape: re.Match[str]) -> str:
        character = chr(int(escape[0][1:], 16))
        is_plain = character.isascii() and (character.isalnum() or character in "-._~")
        return character if is_plain else escape[0].upper() if upper else escape[0]

    path = _ESCAPE.sub(normalize, _PATH_SESSION.sub("", path))
    while "//" in path:
        path = path.replace("//", "/")
    folder, slash, page = path.rpartition("/")
    return folder + slash if page.lower() in _INDEX_PAGES else path


def _normalize_query(search: str, more_noise: frozenset[str] = frozenset()) -> str:
    """Return the sorted parameters without those that do not matter; `more_noise` has `name` or `name=value`."""
    pairs = set()
    for name, value in parse_qsl(search.removeprefix("?"), keep_blank_values=True):
        while name.startswith("amp;"):  # an ampersand was escaped more than once: `?a=1&amp;amp;b=2`
            name = name.removeprefix("amp;")
        names = {name.lower(), f"{name}={value}".lower()}
        if not _is_noise(name, value) and names.isdisjoint(more_noise):
            pairs.add((name, value))
    return "?" + urlencode(sorted(pairs), quote_via=quote) if pairs else ""


def _is_noise(name: str, value: str) -> bool:
    if name.lower() in _TRACKING or name.lower().startswith(_TRACKING_PREFIXES):
        return True
    is_id = len(value) >= _MIN_SESSION_VALUE and value.isascii() and value.isalnum() and not value.isalpha()
    return is_id and (name.lower() in _SESSION_NAMES or name.lower().startswith("aspsessionid"))


_MISSING = "-does-not-exist/"


def build_missing_url(origin: str) -> str:
    """Return a random URL of a site that does not exist, to learn how the site answers one."""
    return f"{origin}/{secrets.token_hex(6)}{_MISSING}"


def is_missing_url(url: str) -> bool:
    """Return True for a URL of `build_missing_url`. Nobody asked for its page, so it is not stored."""
    return url.endswith(_MISSING)
