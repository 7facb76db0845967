"""Where the cache of a user is who has a home, and of one who has none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import platformdirs
import pytest

from scraper.settings import Settings, SettingsError
from scraper.settings.cache_dir import cache_folder


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user without a home, whose temporary files are in this folder."""

    def refuses(*_: object, **__: object) -> Path:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr(platformdirs, "user_cache_path", refuses)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_user_without_a_home_has_a_cache_among_the_temporary_files(homeless: Path) -> None:
    mine = homeless / f"search-mcp-{os.getuid()}"
    assert cache_folder() == mine
    mine.mkdir()
    assert Settings.load({}).data_dir == mine


def test_a_home_that_older_libraries_leave_unresolved_is_none(
    homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: Path("~/.cache/search-mcp"))
    assert cache_folder().parent == homeless


def test_a_folder_that_somebody_else_has_made_is_not_taken(homeless: Path) -> None:
    elsewhere = homeless / "elsewhere"
    elsewhere.mkdir()
    (homeless / f"search-mcp-{os.getuid()}").symlink_to(elsewhere)
    taken = cache_folder()
    assert taken.parent == homeless and not taken.is_symlink()
    assert taken.stat().st_mode & 0o077 == 0


def test_the_home_of_nobody_is_told() -> None:
    with pytest.raises(SettingsError, match=r"^SEARCH_MCP_DATA='~nobody-here/x' cannot be used: there is no"):
        Settings.load({"SEARCH_MCP_DATA": "~nobody-here/x"})
