"""Which version this is, as the package was installed."""

from __future__ import annotations

from importlib import metadata

_DISTRIBUTION = "search-mcp"


def version() -> str:
    """The installed version; `0+source` when the code runs from a folder that nobody installed."""
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0+source"
