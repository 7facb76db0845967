"""Kinds of pages as lists of the hosts that hold them, for engines that know no such kinds."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CATEGORIES = ("news", "pdf", "github", "paper", "forum", "blog")

CATEGORY_DOMAINS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "github": ("github.com",),
        "paper": (
            "arxiv.org",
            "dl.acm.org",
            "link.springer.com",
            "ieeexplore.ieee.org",
            "ncbi.nlm.nih.gov",
            "nature.com",
            "sciencedirect.com",
            "openreview.net",
            "aclanthology.org",
            "biorxiv.org",
            "medrxiv.org",
            "semanticscholar.org",
            "plos.org",
            "jstor.org",
            "onlinelibrary.wiley.com",
        ),
        "forum": (
            "reddit.com",
            "news.ycombinator.com",
            "stackoverflow.com",
            "stackexchange.com",
            "quora.com",
            "superuser.com",
            "serverfault.com",
            "askubuntu.com",
            "lobste.rs",
        ),
    }
)
"""The first five of each are what engines are asked for; the rest counts when answers are filtered."""

_ASKED = 5


def asked_domains(category: str | None, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The domains to name to an engine: the caller's own where there are any, else those of the category."""
    return wanted or CATEGORY_DOMAINS.get(category or "", ())[:_ASKED]
