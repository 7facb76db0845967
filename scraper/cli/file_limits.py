"""How many files and connections this process may have open: some shells allow too few for browsers."""

from __future__ import annotations

import contextlib
import resource

WANTED = 8_192
"""Each connection of a page takes two here and more in the browser: with 90, every second of a dozen pages
rendered at once ended with its browser. macOS gives 256, and takes no number above 10,240."""


def allow_many() -> None:
    """Raise the bound as far as this user may, for this process and for what it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
