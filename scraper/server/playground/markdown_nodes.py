"""Parse Markdown to nodes, from which a script builds elements, so that text of a web page never becomes markup.

Workers import this module, so it imports no part of the server.
"""

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

MAX_CHARS = 200_000
"""Characters that are rendered; the Markdown source is shown completely."""

_PARSER = MarkdownIt("js-default")
"""CommonMark with tables and strikethrough. HTML stays text."""

HtmlNode = str | list[Any]
"""A text, or [tag, attributes, child, ...]."""


def markdown_nodes(text: str) -> list[HtmlNode]:
    """Return the nodes of a Markdown text, from which a script builds elements."""
    return _convert_children(SyntaxTreeNode(_PARSER.parse(text[:MAX_CHARS])))


def _convert_children(parent: SyntaxTreeNode) -> list[HtmlNode]:
    return [node for child in parent.children for node in _convert_node(child)]


def _convert_node(node: SyntaxTreeNode) -> list[HtmlNode]:
    match node.type:
        case "inline":
            return _convert_children(node)
        case "text" | "text_special" | "html_inline" | "html_block":
            return [node.content]
        case "softbreak":
            return ["\n"]
        case "hardbreak":
            return [["br", {}]]
        case "fence" | "code_block":
            return [["pre", {}, node.content]]
        case "code_inline":
            return [["code", {}, node.content]]
        case "image":
            return [["span", {"class": "image"}, node.content or "picture"]]
        case _:
            attributes = {name: str(value) for name, value in node.attrs.items() if name in {"href", "start"}}
            return [[node.tag, attributes, *_convert_children(node)]]
