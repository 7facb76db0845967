"""Blocks of code: their exact text without line numbers and buttons, and the language they are in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from scraper.extract.xpath import Element, text_of

__all__ = ["code_in_table", "code_text", "fence", "is_bare_block", "language_of"]

_NUMBERING = frozenset(
    "linenos lineno lnt ln gutter line-numbers-rows rouge-gutter gl linenodiv line-numbers-wrapper "
    "react-syntax-highlighter-line-number".split()
)
"""Classes of elements that hold line numbers."""

_CONTROLS = frozenset("copy-button copybtn clipboard-copy zeroclipboard-container".split())
_NOT_CODE = _NUMBERING | _CONTROLS
_NOT_CODE_TAGS = frozenset({"button", "clipboard-copy", "input", "select"})
_LINE_TAGS = frozenset({"div", "p", "tr", "li"})
_NUMBERED_TABLES = frozenset({"highlighttable", "lntable", "rouge-table"})

_LANGUAGE_ATTRIBUTES = ("data-lang", "data-language", "data-code-language")
_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language|lang)[-_:]([^\s\"]+)|highlight-source-([^\s\"]+)|highlight-(text-html-basic)"
    r"|brush:\s*([\w#+-]+)|(?:^|\s)highlight-([a-z0-9+#]+)\b",
    re.IGNORECASE,
)
_LANGUAGE_NAME = re.compile(r"[a-z][a-z0-9+#._-]{0,24}")
_NO_LANGUAGE = frozenset(
    "active astro-code auto block chroma clipboard code codehilite container copy dark default docutils "
    "doctest example github-dark github-light gutter highlight hljs inline lang language light line "
    "line-numbers lines linenums literal-block nohighlight none notranslate number-lines plain plaintext pre "
    "prettyprint prettyprinted python-prompt rouge shiki snippet source sourcecode text theme txt vp-code "
    "wrap".split()
)
"""What highlighters write where a language could stand."""

_ALIASES = {"shell": "bash", "pycon": "python", "ipython3": "python", "text-html-basic": "html"}
_HIGHLIGHTER = frozenset("sourcecode highlight hljs codehilite prettyprint shiki code".split())
_KNOWN = frozenset(
    "asm bash bat c clojure cmake console cpp csharp css dart diff docker dockerfile elixir elm "
    "erlang fsharp go graphql groovy haskell hcl html http ini java javascript js json jsx julia "
    "kotlin latex less lua makefile markdown matlab md mermaid nginx nim objectivec ocaml perl php "
    "powershell protobuf pycon python r rst ruby rust scala scss sh shell sql svelte swift tex toml "
    "ts tsx typescript vb vim vue wasm xml yaml yml zig".split()
)
"""Names that mean a language even as a bare class beside a highlighter's."""

_MAX_WRAPPERS = 5
_STOP_TAGS = frozenset({"body", "article", "main", "li", "section", "td"})
_TICKS = re.compile(r"`{3,}")


def fence(code: str, language: str) -> str:
    """A fenced block that nothing in the code can close."""
    longest = max((len(run) for run in _TICKS.findall(code)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


def code_text(block: Element) -> str:
    """The code in an element, line by line as it is shown."""
    text = "".join(_pieces(block)).replace("\r\n", "\n").replace("\u00a0", " ")
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def language_of(block: Element) -> str:
    """The language a highlighter noted on the block, on its `code` or on what wraps this block alone."""
    around = list(_wrappers(block))
    for element in around:
        language = _noted_language(element)
        if language:
            return language
    for element in around[:4]:
        classes = (element.get("class") or "").lower().split()
        if element.tag in ("pre", "code") or not _HIGHLIGHTER.isdisjoint(classes):
            for name in classes:
                if name in _KNOWN:
                    return _ALIASES.get(name, name)
    return ""


def code_in_table(table: Element) -> Element | None:
    """The cell with the code of a table that sets line numbers beside it; None for any other table."""
    row = next(table.iter("tr"), None)
    numbered = not _NUMBERED_TABLES.isdisjoint(_classes(table)) or (
        row is not None and any(not _NUMBERING.isdisjoint(_classes(cell)) for cell in row)
    )
    if not numbered:
        return None
    cells = [cell for cell in table.iter("td") if _NUMBERING.isdisjoint(_classes(cell))]
    return next(cells[-1].iter("pre"), cells[-1]) if cells else None


def is_bare_block(code: Element) -> bool:
    """Whether a `code` outside of `pre` stands alone and has several lines: some generators write so."""
    has_break = next(code.iterdescendants("br"), None) is not None
    if not has_break and "\n" not in text_of(code).strip():
        return False
    parent, before = code.getparent(), code.getprevious()
    if parent is None or (code.tail or "").strip():
        return False
    text_before = parent.text if before is None else before.tail
    inline_before = before is not None and before.tag in ("a", "span", "b", "strong", "em", "i")
    return not (text_before or "").strip() and not inline_before


def _classes(element: Element) -> list[str]:
    return (element.get("class") or "").split()


def _pieces(block: Element) -> Iterator[str]:
    if block.text:
        yield block.text
    for child in block:
        if child.tag == "br":
            yield "\n"
        elif not _is_apparatus(child):
            pieces = list(_pieces(child))
            yield from pieces
            if _is_line(child) and not (pieces and pieces[-1].endswith("\n")):
                yield "\n"
        if child.tail:
            yield child.tail


def _is_apparatus(element: Element) -> bool:
    """Line numbers and buttons."""
    if element.tag in _NOT_CODE_TAGS or not _NOT_CODE.isdisjoint(_classes(element)):
        return True
    style = element.get("style") or ""
    return "user-select" in style and "none" in style


def _is_line(element: Element) -> bool:
    if element.tag == "code":
        parent = element.getparent()
        return parent is not None and len(parent.findall("code")) > 1
    return element.tag in _LINE_TAGS or (
        element.tag == "span"
        and re.search(r"display:\s*(?:block|grid|flex)", element.get("style") or "") is not None
    )


def _wrappers(block: Element) -> Iterator[Element]:
    inner = next(block.iterdescendants("code"), None)
    if inner is not None:
        yield inner
    yield block
    around = block.getparent()
    for _ in range(_MAX_WRAPPERS):
        # One block, or two where the line numbers are a `pre` of their own.
        if around is None or around.tag in _STOP_TAGS or _holds_three(around):
            return
        yield around
        around = around.getparent()


def _holds_three(element: Element) -> bool:
    return len(list(islice(element.iterdescendants("pre"), 3))) == 3


def _noted_language(element: Element) -> str:
    for attribute in _LANGUAGE_ATTRIBUTES:
        language = _language_named(element.get(attribute) or "")
        if language:
            return language
    for match in _LANGUAGE_CLASS.finditer(element.get("class") or ""):
        language = _language_named(next(group for group in match.groups() if group))
        if language:
            return language
    return ""


def _language_named(name: str) -> str:
    name = name.lower().strip(" ;,")
    if name in _NO_LANGUAGE or not _LANGUAGE_NAME.fullmatch(name):
        return ""
    return _ALIASES.get(name, name)
