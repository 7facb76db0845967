"""Convert text responses that are not HTML: delivered Markdown, plain text, code, JSON and feeds."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from browsers.model import Snapshot
from scraper.errors import UnsupportedTypeError, name_media_type
from scraper.extract import feeds
from scraper.html.dom.parsing import MARKUP_START, is_binary
from scraper.model import Document, Verdict, VerdictKind
from scraper.text import sanitize
from scraper.text.markdown_structure import fence, find_headings, format_json
from scraper.values.text import read_table

_MAX_CHARACTERS = 4_000_000

_PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "image/svg+xml"})
_PROSE_TYPES = frozenset({"text/plain", ""})
_TABLE = read_table(__package__, "plaintext.toml")
_LANGUAGES: dict[str, str] = _TABLE["languages"]
_DOCUMENT_TYPES: dict[str, str] = _TABLE["documents"]


def is_page(snapshot: Snapshot) -> bool:
    """Return True if a snapshot is HTML or a drawing with text.

    It was rendered, or its media type says so, or it is XML or has no type and begins with a tag of HTML.
    """
    if snapshot.rendered or snapshot.media_type in _PAGE_TYPES:
        return True
    return snapshot.media_type in ("", "application/xml", "text/xml") and bool(MARKUP_START.match(snapshot.html))


def read(snapshot: Snapshot) -> Document:
    """Return the document in a text response.

    Raises:
        UnsupportedTypeError: the response is not text.
    """
    media_type = snapshot.media_type
    text = snapshot.html or snapshot.body.decode("utf-8", "replace")
    is_known = (
        media_type in {*_LANGUAGES, *_PROSE_TYPES} or media_type.startswith("text/") or media_type.endswith(_TYPES)
    )
    if not (is_known or _is_json(media_type) or _is_xml(media_type)) or (is_binary(text) and text):
        if kind := _DOCUMENT_TYPES.get(media_type):
            message = f"The URL leads to a document ({kind}, {media_type}), not to a page."
            step = "Use `read_doc` for it."
        else:
            kind = name_media_type(media_type) if media_type else "binary data"
            message = f"The URL leads to {kind}, which has no text to read."
            step = "Fetch the page that links to it, or another URL."
        raise UnsupportedTypeError(message, target=snapshot.url, next_step=step)
    text, controls = sanitize.clean(text[:_MAX_CHARACTERS].removeprefix("\ufeff"))
    if _is_xml(media_type) and (feed := feeds.read(text, snapshot.url)):
        return feed
    body = _format_text(media_type, text)
    return Document(
        url=snapshot.url,
        text=text.strip(),
        markdown=body,
        verdict=Verdict() if body else Verdict(VerdictKind.THIN, "empty"),
        outline=find_headings(body),
        controls_removed=controls,
    )


def _format_text(media_type: str, text: str) -> str:
    if not text.strip():
        return ""
    if media_type.endswith("markdown"):  # too long for the reader
        return text.strip()
    if media_type in _PROSE_TYPES:
        # Line breaks matter in code, tables and lists, but not in prose.
        has_layout = re.search(r"^(?: {2,}|\t)\S|[^.\s] {3,}\S|^[#*>|`~+-]", text, re.MULTILINE) is not None
        return fence(text.strip("\n"), "text") if has_layout else text.strip()
    if _is_json(media_type):
        # Escapes in JSON become characters.
        return fence(sanitize.clean(format_json(text))[0], "json")
    language = "xml" if _is_xml(media_type) else _LANGUAGES.get(media_type, "text")
    return fence(text.strip("\n"), language)


def _is_json(media_type: str) -> bool:
    return media_type in ("application/json", "text/json") or media_type.endswith("+json")


def _is_xml(media_type: str) -> bool:
    return media_type in ("application/xml", "text/xml") or media_type.endswith("+xml")


_SEARCHING_STAGES = frozenset(
    {"judge", "extract_footnotes", "join_rows", "find_discussion", "select_content", "read_key_facts", "prune_tree"}
)
"""Stages of the reader that search the content among other parts of a page: all of the Markdown is content."""

_TYPES = "markdown", "mdx"
"""Ends of the media types: `text/markdown`, `application/x-markdown`, `text/mdx`."""
_MAX_MARKDOWN = 1_000_000
"""Characters, which take 1.3 s of CPU. Longer texts are returned as they are."""
_FILE_NAME = re.compile(r"[^/]*\.(?:md|mdx|markdown)|llms[a-z-]*\.txt", re.IGNORECASE)
"""Last part of a path. llmstxt.org names `llms.txt` and `llms-full.txt`."""

_FRONT_MATTER = re.compile(
    r"\s*(---|\+\+\+)[ \t]*\n((?:[ \t#-][^\n]*\n|[\w\"'.-]+[ \t]*[:=][^\n]*\n|[\]}]\n|\n)*)\1[ \t]*(?:\n|$)"
)
_FRONT_LINE = re.compile(r"(title|description|authors?|date)[ \t]*[:=][ \t]*([\"']?)(\S.*?)\2\s*$", re.IGNORECASE)
_META_NAMES = {"description": "description", "author": "author", "date": "article:published_time"}
_CODE = re.compile(
    r"(?:^|(?<=\n))[ \t>]*(`{3,}|~{3,}).*?(?:\n[ \t>]*\1[`~]*[ \t]*(?=\n|$)|$)"  # block
    r"|(?<!`)(`{1,8})(?!`)[^\n]{1,1000}?(?<!`)\2(?!`)",  # within a line
    re.DOTALL,
)
_VALUE = r"""(?:"[^"]*"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\})"""
_COMPONENT = re.compile(rf"</?[A-Z][\w.]*((?:\s+[\w:@-]+(?:={_VALUE})?|\s+\{{[^{{}}]*\}})*)\s*/?>")
"""A tag of a component; names of HTML elements are in lower case (MDX, Vue)."""
_ATTRIBUTE = re.compile(r"""\b(title|label|href|to)=["']([^"']+)["']""")
_LINK = re.compile(
    r"""<([A-Z][\w.]*)\s(?![^<>]*\b(?:title|label)=)[^<>]*?\b(?:href|to)="""
    r"""["']([^"'\s()]+)["'][^<>]*>([^<>\[\]\n]+)</\1>"""
)
"""A component with an address and one line of text; one with a title is a card."""
_MODULE_LINE = re.compile(
    r"^import\s(?:[^\"'()]{0,1000}\bfrom\s+)?[\"'][^\"'\n]+[\"'];?$"
    r"|^export\s+(?:const|let|default)\s(?:[^\n]*[{(\[]\n(?:[^\n]*\n){0,200}?[})\]]+;?$|.*$)",
    re.M,
)
_CONTAINER = re.compile(
    r"^[ \t]*:{3,}[ \t]*([a-z]*)[^\n\[{]{0,80}?(?:[ \[]([^\]\n{]{1,200})\]?)?(?:\{[^}\n]{0,200}\})?[ \t]*$", re.M
)
_DROPPED = re.compile(
    r"\[[\s\u200b#¶]*\]\(#[^)\n]*\)"  # link of a heading to itself
    r"|\{[#.][^{}\n]*\}(?=[ \t]*$)"  # attributes of a heading
    r"|\{%.{0,1000}?%\}"  # template tag
    r"|\{/\*[^{}]{0,1000}?\*/\}"  # comment of MDX
    r"|^\[(?:\[_?toc_?\]|toc)\]$",  # place of a table of contents
    re.MULTILINE | re.IGNORECASE,
)


def is_markdown(snapshot: Snapshot) -> bool:
    """Return True if a response is Markdown by its type, or by its name if the type says no more than text.

    Longer texts than a page are plain text.
    """
    name = urlsplit(snapshot.url).path.rpartition("/")[2]
    is_labeled = snapshot.media_type == "text/html" and not snapshot.html.lstrip("\ufeff \t\r\n").startswith("<")
    is_text = is_labeled or snapshot.media_type in _PROSE_TYPES
    is_declared = (is_text and _FILE_NAME.fullmatch(name)) or snapshot.media_type.endswith(_TYPES)
    return bool(is_declared) and len(snapshot.html) <= _MAX_MARKDOWN and not is_binary(snapshot.html)


def build_page(snapshot: Snapshot) -> tuple[Snapshot, frozenset[str]]:
    """Return the response as HTML, and the stages of the reader that it does not need.

    A body that begins with a tag of HTML is HTML whatever its type says.
    """
    text = snapshot.html.removeprefix("\ufeff").replace("\r\n", "\n")
    is_page = MARKUP_START.match(text) is not None
    page = replace(snapshot, media_type="text/html", html=text if is_page else _to_html(text))
    return page, frozenset() if is_page else _SEARCHING_STAGES


def _to_html(text: str) -> str:
    values, body = read_front_matter(text)
    has_components = _COMPONENT.search(body) is not None
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    if has_components:
        # MDX has no indented code: what stands in components is indented.
        parser.disable("code")
        body = _outside_code(body, _replace_components)
    body = _outside_code(body, lambda prose: _DROPPED.sub("", _CONTAINER.sub(_replace_container, prose)))
    notice, _, rest = body.lstrip().partition("\n\n")
    if notice.startswith(">") and "llms.txt" in notice:
        body = rest
    return f"<!doctype html><html><head>{_build_head(values)}</head><body>{parser.render(body)}</body></html>"


def read_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return title, description, author and date of a Markdown text as far as it states them, and the text after."""
    front = _FRONT_MATTER.match(text)
    if front is None:
        return {}, text
    lines = filter(None, map(_FRONT_LINE.match, front[2].split("\n")))
    values = {line[1].lower(): line[3] for line in lines}
    if (authors := values.pop("authors", "").strip("[]")) and "author" not in values:
        values["author"] = authors
    return values, text[front.end() :]


def _build_head(values: Mapping[str, str]) -> str:
    """Return the metadata as elements of a head."""
    title = f"<title>{escape(values['title'])}</title>" if "title" in values else ""
    return title + "".join(
        f'<meta name="{name}" content="{escape(values[key])}">' for key, name in _META_NAMES.items() if key in values
    )


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return the text with everything changed but code."""
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        parts += (change(text[end : code.start()]), code[0])
        end = code.end()
    return "".join((*parts, change(text[end:])))


def _replace_components(prose: str) -> str:
    """Return a text without modules and components; their titles in bold, their addresses as links."""
    return _COMPONENT.sub(_replace_component, _LINK.sub(r"[\3](\2)", _MODULE_LINE.sub("", prose)))


def _replace_component(tag: re.Match[str]) -> str:
    values = dict(_ATTRIBUTE.findall(tag[1]))
    label, address = values.get("title") or values.get("label"), values.get("href") or values.get("to")
    text = f"[{label}]({address})" if label and address else label
    return f"\n\n**{text}**\n\n" if text else ""


def _replace_container(line: re.Match[str]) -> str:
    """Return the title or the kind of a container, such as "Tip", in bold."""
    label = (line[2] or line[1].capitalize()).strip()
    return f"\n**{label}**\n" if label else ""
