"""Where a user's cache belongs, also that of a user without a home, as in some services and containers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import platformdirs

_NAME = "search-mcp"


def cache_folder() -> Path:
    """The user's cache folder; without a home, one of the user's own among the temporary files."""
    try:
        usual = platformdirs.user_cache_path(_NAME, appauthor=False)
    except RuntimeError:
        return _temporary()
    return usual if usual.is_absolute() else _temporary()


def with_home(path: str) -> Path:
    """The path, absolute, with the home that `~` or `~name` stands for.

    Raises:
        ValueError: nobody knows where that is.
    """
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        raise ValueError("there is no such home folder; give a path that begins with /") from None


def _temporary() -> Path:
    folder = Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}"
    try:
        ours = folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
    except FileNotFoundError:
        return folder
    # Whoever made it first could read what is kept in it.
    return folder if ours else Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))
