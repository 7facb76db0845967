"""The language that a block of code is in, as highlighters and pages note it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from scraper.extract.dom.xpath import Element

_LANGUAGE_ATTRIBUTES = (
    "data-lang",
    "data-language",
    "data-code-language",
    "data-enlighter-language",
    "language",
)
_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language|(?:mw-highlight-)?lang)[-_:]([^\s\"]+)|highlight-(?:source|text)-([^\s\"]+)"
    r"|brush:\s*([\w#+-]+)|(?:^|\s)hl-(ipython\d?)(?!\S)|(?:^|\s)highlight-(?!(?:source|text)-)([a-z0-9+#]+)\b",
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

_ALIASES = {
    "shell": "bash",
    "pycon": "python",
    "ipython": "python",
    "jscript": "javascript",
    "ipython2": "python",
    "ipython3": "python",
    "text-html-basic": "html",
    "html-basic": "html",
    "html-erb": "erb",
    "css-scss": "scss",
    "css-less": "less",
    "json-comments": "jsonc",
}
_HIGHLIGHTER = frozenset(
    "sourcecode highlight hljs codehilite prettyprint shiki code syntaxhighlighter".split()
)
_KNOWN = frozenset(
    "abap ada agda apex asm astro awk bash bat batch c clojure cmake cobol console coq cpp crystal csharp "
    "css cuda dart diff docker dockerfile elixir elm erlang fish fortran fsharp gdscript glsl go gradle "
    "graphql groovy handlebars haskell haxe hcl hlsl html http idris ini java javascript jinja js jscript "
    "json json5 jsonc jsonnet jsx julia kotlin latex lean less liquid lisp lua makefile markdown matlab md "
    "mdx mermaid nginx nim nix objectivec ocaml pascal perl php postgresql powershell prisma prolog protobuf "
    "purescript pycon python r racket razor reason rst ruby rust sass scala scheme scss sh shell "
    "smalltalk solidity sql stylus svelte swift systemverilog tcl terraform tex toml ts tsx twig "
    "typescript typst vb verilog vhdl vim vue wasm wgsl xml yaml yml zig zsh".split()
)
"""Names that mean a language even as a bare class beside a highlighter's."""

_DISPLAYED_NAMES = {
    "c++": "cpp",
    "c#": "csharp",
    "f#": "fsharp",
    "plain text": "",
    "plaintext": "",
    "text": "",
    "code": "",
    "terminal": "bash",
    "shell script": "bash",
    "objective-c": "objectivec",
    "node.js": "javascript",
}
"""Languages as a person reads them over a block."""

_MAX_WRAPPERS = 5
_STOP_TAGS = frozenset({"body", "article", "main", "li", "section", "td"})


def language_of(block: Element) -> str:
    """The language a highlighter noted on the block, on its `code` or on what wraps this block alone."""
    around = list(_wrappers(block))
    for element in around:
        language = _noted_language(element)
        if language:
            return language
        if element.tag in ("pre", "code") and (element.get("lang") or "").lower() in _KNOWN:
            return _language_named(element.get("lang") or "")
    for element in around[:4]:
        classes = (element.get("class") or "").lower().split()
        for name in classes:
            if name in _KNOWN and (_is_highlighter(element, classes) or f"source-{name}" in classes):
                return _ALIASES.get(name, name)
    return ""


def _is_highlighter(element: Element, classes: list[str]) -> bool:
    return element.tag in ("pre", "code") or not _HIGHLIGHTER.isdisjoint(classes)


def is_language(name: str) -> bool:
    """Whether a word beside a block names a language."""
    return name in _KNOWN or name in _DISPLAYED_NAMES


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
    told = f"{element.get('class') or ''} {element.get('data-syntaxhighlighter-params') or ''}"
    for match in _LANGUAGE_CLASS.finditer(told):
        language = _language_named(next(group for group in match.groups() if group))
        if language:
            return language
    return ""


def _language_named(name: str) -> str:
    name = name.lower().strip(" ;,")
    name = _DISPLAYED_NAMES.get(name, name)
    if name in _NO_LANGUAGE or not _LANGUAGE_NAME.fullmatch(name):
        return ""
    return _ALIASES.get(name, name)
