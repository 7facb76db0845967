"""What `doctor` says of the database that servers share."""

from __future__ import annotations

from pathlib import Path

from scraper.cli import shared_database
from scraper.cli.findings import Level
from scraper.settings import Settings


async def test_nothing_is_said_of_a_database_that_nobody_named(tmp_path: Path) -> None:
    assert await shared_database.check(Settings(data_dir=tmp_path)) == []


async def test_a_database_that_does_not_answer_is_a_warning_without_its_password(tmp_path: Path) -> None:
    url = "postgresql://keeper:not-to-be-told@127.0.0.1:1/pages"
    (finding,) = await shared_database.check(Settings(data_dir=tmp_path, database_url=url))
    assert finding.level is Level.POOR
    assert "no PostgreSQL answers at 127.0.0.1:1" in finding.text
    assert "not-to-be-told" not in f"{finding.text}{finding.mend}"
