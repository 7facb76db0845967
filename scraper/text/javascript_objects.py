"""Read object and list literals of JavaScript, without reading beyond the end of an incomplete text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import chompjs

_END = ")\n*/)))"
"""Text added to each input. chompjs 1.4.1 reads foreign memory after a text that ends within a value, a comment or an
escape (`handle_unrecognized` and `handle_comments` of its parser.c). These characters end each of them, and close no
object."""


def iterate_javascript_objects(text: str) -> Iterable[Any]:
    """Yield all objects and lists of a text; those that cannot be read are omitted.

    Raises:
        ValueError: The text contains the character U+0000.
        RecursionError: An object is nested too deep.
    """
    objects: Iterable[Any] = chompjs.parse_js_objects(text + _END, loader_kwargs={"strict": False})
    return objects
