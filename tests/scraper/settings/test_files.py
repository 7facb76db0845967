"""Where the cache of a user is who has a home, and of one who has none."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import platformdirs
import pytest

from scraper.settings import Settings, SettingsError
from scraper.settings.files import UnreadableFileError, find_cache_folder, read_text_file


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Simulate a user without a home; temporary files are in this folder."""

    def refuses(*_: object, **__: object) -> Path:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr(platformdirs, "user_cache_path", refuses)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_user_without_a_home_has_a_cache_among_the_temporary_files(homeless: Path) -> None:
    mine = homeless / f"search-mcp-{os.getuid()}"
    assert find_cache_folder() == mine
    mine.mkdir()
    assert Settings.load({}).data_dir == mine


def test_a_home_that_older_libraries_leave_unresolved_is_none(homeless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: Path("~/.cache/search-mcp"))
    assert find_cache_folder().parent == homeless


def test_a_folder_of_another_user_is_not_used(homeless: Path) -> None:
    elsewhere = homeless / "elsewhere"
    elsewhere.mkdir()
    (homeless / f"search-mcp-{os.getuid()}").symlink_to(elsewhere)
    taken = find_cache_folder()
    assert taken.parent == homeless and not taken.is_symlink()
    assert taken.stat().st_mode & 0o077 == 0


def test_a_missing_home_is_reported() -> None:
    with pytest.raises(SettingsError, match=r"^SEARCH_MCP_DATA='~nobody-here/x' cannot be used: there is no"):
        Settings.load({"SEARCH_MCP_DATA": "~nobody-here/x"})


def output(file: Path) -> str:
    with pytest.raises(UnreadableFileError) as caught:
        read_text_file(file)
    return str(caught.value)


def test_the_text_comes_without_the_mark_that_some_editors_begin_it_with(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"\xef\xbb\xbfs\xc3\xa9same\n")
    assert read_text_file(file) == "sésame\n"


def test_each_trouble_has_its_own_words_and_a_next_step(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "round").symlink_to("round")
    assert output(tmp_path / "gone") == "the file does not exist. Correct the path, or create the file."
    assert output(tmp_path) == "the path is a folder, or contains a file as a folder. Name a file."
    assert output(tmp_path / "bytes" / "deeper") == output(tmp_path)
    assert output(tmp_path / "bytes") == "it is not UTF-8 text. Save it as UTF-8."
    assert output(tmp_path / "round") == f"{os.strerror(errno.ELOOP)}. Name a file that can be read."


def test_an_unreadable_file_error_names_the_user_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    # The administrator, as whom tests may run, is refused nothing.
    monkeypatch.setattr(Path, "read_text", refused)
    assert output(tmp_path / "token") == (
        f"the user with id {os.geteuid()} has no permission. Allow this user to read the file."
    )
