"""JavaScript for visited pages: in an isolated world, but for `ACTING_PAGES` and `DESKTOP_APIS`."""

import json
from importlib.resources import files

READINESS_PROBE = files(__name__).joinpath("probe.js").read_text(encoding="utf-8")
"""Install `globalThis.__readinessProbe`. Its `sample()` returns the tuple that `DomSample.of` parses."""

MARK_HIDDEN = files(__name__).joinpath("mark.js").read_text(encoding="utf-8")
"""Function that marks invisible content with `data-x-hidden` and returns the document."""

_WORDS, _BANNERS = (
    files(__name__).joinpath(name).read_text(encoding="utf-8") for name in ("consent_words.js", "consent.js")
)
CONSENT = f"(() => {{{_WORDS} return ({_BANNERS})}})()"
"""Return an object whose `plan()` finds the next button to click to refuse a consent banner."""
DESKTOP_APIS = files(__name__).joinpath("desktop.js").read_text(encoding="utf-8")
"""Script in the world of the page: give the light tier the objects of a desktop build."""
ACTING_PAGES = files(__name__).joinpath("acting.js").read_text(encoding="utf-8")
"""Script in the world of a page on which steps act: ignore `print()`, refuse pointer locks, and more."""


def _load_functions(name: str) -> dict[str, str]:
    """Return the functions at the top level of a script by name, each with the lines before the first one."""
    head, *parts = files(__name__).joinpath(name).read_text(encoding="utf-8").split("\nfunction ")
    shared = head.rpartition("/*")[0]
    bodies = {text.partition("(")[0]: "function " + text[: text.rindex("}") + 1] for text in parts}
    return {
        name: f"function(...given) {{{shared}\nreturn ({body}).apply(this, given);}}" for name, body in bodies.items()
    }


ELEMENT_FUNCTIONS = _load_functions("elements.js")
"""Functions by name that are called with an element of a page as `this`, each alone."""
_PAGE_FUNCTIONS = _load_functions("pages.js")


def call_page(name: str, *arguments: object) -> str:
    """Return an expression that calls a function of `pages.js`."""
    return f"({_PAGE_FUNCTIONS[name]})({', '.join(map(json.dumps, arguments))})"
