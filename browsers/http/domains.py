"""Find the registrable domain of a host, by which hosts of one site are recognized."""

from __future__ import annotations

import functools

_SECOND_LEVEL = frozenset("ac co com edu gob gov go gv ltd mil ne net nhs nom or org plc sch".split())
"""Second-level labels of country domains that do not name a site: co.uk, com.au, or.jp."""

_SHARED_HOSTS = frozenset(
    "blogspot.com appspot.com azurewebsites.net fly.dev firebaseapp.com github.io gitlab.io herokuapp.com "
    "netlify.app onrender.com pages.dev readthedocs.io substack.com tumblr.com vercel.app web.app "
    "wixsite.com wordpress.com workers.dev".split()
)
"""Domains whose subdomains are separate sites (the common part of the public suffix list)."""


@functools.lru_cache(maxsize=1_000)
def registrable_domain(host: str) -> str:
    """Return the registrable domain of a host in lower case; an IP address is returned unchanged.

    The rules are an excerpt of the public suffix list.
    """
    labels = host.split(".")
    if ":" in host or labels[-1].isdecimal():
        return host
    shared = ".".join(labels[-2:]) in _SHARED_HOSTS
    by_country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3:] if shared or by_country else labels[-2:])
