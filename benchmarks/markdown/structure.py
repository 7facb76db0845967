"""Parse Markdown into headings, code, tables, items, links and formulas, with one parser for all converters."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a", "'"),
        **dict.fromkeys("\u201c\u201d\u201e", '"'),
        **dict.fromkeys("\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u00a0\u202f\u2009", " "),
        **dict.fromkeys("\u200b\ufeff\u00ad\u200c\u2060", ""),
        "\u2026": "...",
    }
)
"""Quotes, dashes and spaces that differ between generators."""

_LANGUAGES: Mapping[str, str] = {
    alias: name
    for name, aliases in {
        "python": "py python3 py3 pycon ipython ipython3 python-repl",
        "javascript": "js jsx mjs node",
        "typescript": "ts tsx",
        "bash": "sh shell zsh console shell-session shellsession terminal bash-session",
        "yaml": "yml",
        "rust": "rs",
        "ruby": "rb",
        "go": "golang",
        "cpp": "c++ cxx",
        "csharp": "cs c#",
        "html": "htm xhtml html5 vue-html",
        "markdown": "md mdx",
        "julia": "jl julia-repl jldoctest",
        "kotlin": "kt",
        "powershell": "ps1 pwsh ps",
        "dockerfile": "docker",
        "json": "jsonc json5 jsonl",
        "": "text txt plaintext plain none nohighlight no-highlight default output raw notranslate",
        "restructuredtext": "rst rest",
        "diff": "patch",
        "objc": "objective-c",
        "latex": "tex",
        "makefile": "make",
        "ini": "cfg conf dotenv properties",
        "xml": "svg",
        "jinja": "django html+jinja jinja2",
    }.items()
    for alias in aliases.split()
}
_HTML_TABLE = re.compile(r"<table\b.*?</table>", re.IGNORECASE | re.DOTALL)
_HTML_ROW = re.compile(r"<tr\b[^>]*>", re.IGNORECASE)
_HTML_CELL = re.compile(r"<t[dh]\b[^>]*>(.*?)(?=</t[dh]>|<t[dh]\b|</tr>|</table>|$)", re.IGNORECASE | re.DOTALL)
_HTML_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_HTML_TAG = re.compile(r"<[^>]*>")
_TASK = re.compile(r"^\[[ xX]\] ")


@dataclass(slots=True)
class Structure:
    """Elements of a Markdown text."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    code: list[tuple[str, str]] = field(default_factory=list)
    """Language and text."""
    tables: list[list[list[str]]] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    """Text and URL."""
    formulas: list[str] = field(default_factory=list)
    text: str = ""


def normalize_text(text: str | None) -> str:
    """Normalize character widths, quotes, dashes and white space."""
    return " ".join(unicodedata.normalize("NFKC", (text or "").translate(_SAME)).split())


def normalize_code(text: str | None) -> str:
    """Normalize code: strip line ends, replace tabs with four spaces, merge empty lines."""
    plain = (text or "").replace("\r\n", "\n").replace("\u00a0", " ").replace("\u200b", "").replace("\t", "    ")
    lines = [line.rstrip() for line in plain.split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def normalize_url(address: str | None) -> str:
    """Return a URL without scheme and trailing slash, for comparison."""
    return re.sub(r"^http://", "https://", (address or "").strip()).rstrip("/").replace("&amp;", "&")


def language_name(info: str | None) -> str:
    """Return the normalized language in the first line of a fence."""
    name = re.sub(r"^[{.\s]+", "", (info or "").strip().lower())
    name = re.split(r"[\s,{}:;=]", name, maxsplit=1)[0].strip(".")
    name = re.sub(r"^(?:language|lang|highlight|highlight-source)-", "", name)
    return _LANGUAGES.get(name, name)


def parse_structure(markdown: str) -> Structure:
    """Parse a Markdown text into its structure."""
    collector = _Collector()
    tokens = _parser().parse(markdown)
    for at, token in enumerate(tokens):
        collector.take(token, tokens[at + 1] if at + 1 < len(tokens) else None)
    collector.found.text = "\n".join(filter(None, collector.texts))
    return collector.found


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "linkify": False})
    parser.enable(["table", "strikethrough"])
    for plugin in (front_matter_plugin, footnote_plugin, deflist_plugin):
        parser.use(plugin)
    return parser.use(dollarmath_plugin, allow_space=False, double_inline=True)


class _Collector:
    """Collect the structure from the tokens of a text."""

    def __init__(self) -> None:
        self.found = Structure()
        self.texts: list[str] = []
        self._items: list[list[str]] = []
        self._table: list[list[str]] = []
        self._row: list[str] | None = None

    def take(self, token: Token, after: Token | None) -> None:
        rule = self._RULES.get(token.type)
        if rule is not None:
            rule(self, token, after)

    def _heading(self, token: Token, after: Token | None) -> None:
        self.found.headings.append((int(token.tag[1]), _plain(after)))

    def _code(self, token: Token, after: Token | None) -> None:
        code = normalize_code(token.content)
        language = language_name(token.info if token.type == "fence" else "")
        if language in ("math", "latexmath"):
            self.found.formulas.append(code)
        elif code:
            self.found.code.append((language, code))
        self.texts.append(code)

    def _math(self, token: Token, after: Token | None) -> None:
        self.found.formulas.append(token.content.strip())
        self.texts.append(token.content.strip())

    def _open_table(self, token: Token, after: Token | None) -> None:
        self._table = []

    def _close_table(self, token: Token, after: Token | None) -> None:
        rows = [row for row in self._table if any(row)]
        if rows:
            self.found.tables.append([row for row in self._table if row])

    def _open_row(self, token: Token, after: Token | None) -> None:
        self._row = []

    def _close_row(self, token: Token, after: Token | None) -> None:
        if self._row and any(self._row):
            self._table.append(self._row)
        self._row = None

    def _open_item(self, token: Token, after: Token | None) -> None:
        self._items.append([])

    def _close_item(self, token: Token, after: Token | None) -> None:
        own = _TASK.sub("", normalize_text(" ".join(self._items.pop())))
        if own:
            self.found.items.append(own)

    def _html(self, token: Token, after: Token | None) -> None:
        self.found.tables += _html_tables(token.content)
        self.texts.append(normalize_text(_HTML_TAG.sub(" ", token.content)))

    def _inline(self, token: Token, after: Token | None) -> None:
        plain = _plain(token)
        self.texts.append(plain)
        if self._row is not None:
            self._row.append(plain)
        elif self._items:
            self._items[-1].append(plain)
        self._links(token.children or [])

    def _links(self, parts: Iterable[Token]) -> None:
        opened: list[tuple[str, list[str]]] = []
        for part in parts:
            if part.type == "link_open":
                opened.append((str(part.attrGet("href") or ""), []))
            elif part.type == "link_close" and opened:
                address, words = opened.pop()
                text = normalize_text("".join(words))
                if text:
                    self.found.links.append((text, normalize_url(address)))
            elif part.type in ("math_inline", "math_inline_double"):
                self.found.formulas.append(part.content.strip())
            if opened and part.type in ("text", "code_inline"):
                opened[-1][1].append(part.content)
            elif opened and part.type in ("softbreak", "hardbreak"):
                opened[-1][1].append(" ")

    _RULES: Mapping[str, Callable[[_Collector, Token, Token | None], None]] = {
        "heading_open": _heading,
        "fence": _code,
        "code_block": _code,
        "math_block": _math,
        "table_open": _open_table,
        "table_close": _close_table,
        "tr_open": _open_row,
        "tr_close": _close_row,
        "list_item_open": _open_item,
        "list_item_close": _close_item,
        "html_block": _html,
        "inline": _inline,
    }


def _plain(token: Token | None) -> str:
    pieces = []
    for part in (token.children or []) if token is not None else []:
        if part.type in ("text", "code_inline", "math_inline", "math_inline_double"):
            pieces.append(part.content)
        elif part.type in ("softbreak", "hardbreak", "image") or (
            part.type == "html_inline" and part.content.lower().startswith("<br")
        ):
            pieces.append(" ")
    return normalize_text("".join(pieces))


def _html_tables(source: str) -> list[list[list[str]]]:
    tables = []
    for table in _HTML_TABLE.findall(source):
        rows = [[_html_text(cell) for cell in _HTML_CELL.findall(row)] for row in _HTML_ROW.split(table)[1:]]
        rows = [row for row in rows if row]
        if rows:
            tables.append(rows)
    return tables


def _html_text(cell: str) -> str:
    return normalize_text(html.unescape(_HTML_TAG.sub("", _HTML_BREAK.sub(" ", cell))))
