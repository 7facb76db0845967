"""What is said of a file that a setting names and that cannot be read."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from scraper.settings.named_files import UnreadableFileError, text_in


def told(file: Path) -> str:
    with pytest.raises(UnreadableFileError) as caught:
        text_in(file)
    return str(caught.value)


def test_the_text_comes_without_the_mark_that_some_editors_begin_it_with(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"\xef\xbb\xbfs\xc3\xa9same\n")
    assert text_in(file) == "sésame\n"


def test_each_trouble_has_its_own_words_and_a_next_step(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "round").symlink_to("round")
    assert told(tmp_path / "gone") == "there is no such file. Correct the path, or make the file."
    assert told(tmp_path) == "the path leads to a folder, or through a file. Name a file."
    assert told(tmp_path / "bytes" / "deeper") == told(tmp_path)
    assert told(tmp_path / "bytes") == "it is no text in UTF-8. Save it as that."
    assert told(tmp_path / "round") == f"{os.strerror(errno.ELOOP)}. Name a file that can be read."


def test_a_file_for_others_says_for_whom_it_must_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    # The administrator, as whom tests may run, is refused nothing.
    monkeypatch.setattr(Path, "read_text", refused)
    assert told(tmp_path / "token") == (
        f"the user that this runs as (number {os.geteuid()}) may not. Let it read the file."
    )
