"""JavaScript of visited pages. All but `DESKTOP` runs in an isolated world, which pages cannot see."""

from importlib.resources import files

__all__ = ["CONSENT", "DESKTOP", "MARK", "PROBE"]

PROBE = files(__name__).joinpath("probe.js").read_text(encoding="utf-8")
"""Installs `globalThis.__readinessProbe`. Its `sample()` returns the tuple that `DomSample.of` parses."""

MARK = files(__name__).joinpath("mark.js").read_text(encoding="utf-8")
"""A function that marks invisible content and returns the document."""

CONSENT = files(__name__).joinpath("consent.js").read_text(encoding="utf-8")
"""Returns an object whose `plan` names the button that refuses a consent banner."""
DESKTOP = files(__name__).joinpath("desktop.js").read_text(encoding="utf-8")
"""Script of a page itself, for the light tier only."""
