"""Durability of the frontier file, which records the remaining pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from scraper.bulk.job_database import JobDatabase
from scraper.bulk.model import OutputPosition
from scraper.bulk.url_lists import ListLine
from tests.scraper.bulk.jobs import outcome_of


class _Disk(apsw.VFS):
    """The default file system, with a list of the files that were synced."""

    def __init__(self) -> None:
        self.below = apsw.vfs_names()[0]
        super().__init__("watched", self.below, makedefault=True)
        self.brought: list[str] = []

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: _Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(disk.below, name, flags)
        self._disk = disk
        self._name = str(name.filename() if isinstance(name, apsw.URIFilename) else name)

    def xSync(self, flags: int) -> None:
        self._disk.brought.append(self._name)
        super().xSync(flags)


@pytest.fixture
def disk() -> Iterator[_Disk]:
    """Record all syncs during the test."""
    watched = _Disk()
    try:
        yield watched
    finally:
        watched.unregister()


def test_the_new_position_is_synced_before_obsolete_files_are_deleted(tmp_path: Path, disk: _Disk) -> None:
    frontier = JobDatabase(tmp_path)
    try:
        frontier.add_lines([ListLine("http://a.example/1"), ListLine("http://a.example/2")])
        disk.brought.clear()
        frontier.mark_done([outcome_of(1)], OutputPosition(1, 100))
        assert not disk.brought  # called several times a second; lost pages are read again
        frontier.set_position(OutputPosition(2))
        assert any(name.endswith("-wal") for name in disk.brought)
        disk.brought.clear()
        frontier.mark_done([outcome_of(2)], OutputPosition(2, 100))
        assert not disk.brought and frontier.position == OutputPosition(2, 100)
    finally:
        frontier.close()
