"""What `doctor` says of the database that servers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from scraper.cli import doctor_checks
from scraper.cli.doctor_checks import CheckLevel
from scraper.settings import Settings
from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.process import output_of
from tests.scraper.store.conftest import entry, shared_pages
from tests.scraper.store.postgres_server import missing, running_postgres
from tests.scraper.store.slow_line import slow_line

FAR_S = 0.2
"""Each way: a connection takes longer to be made than a question may take."""


async def test_an_unconfigured_database_has_no_finding(tmp_path: Path) -> None:
    assert await doctor_checks.check_database(Settings(data_dir=tmp_path)) == []


async def test_a_database_that_does_not_answer_is_a_warning_without_its_password(tmp_path: Path) -> None:
    url = "postgresql://keeper:not-to-be-told@127.0.0.1:1/pages"
    (finding,) = await doctor_checks.check_database(Settings(data_dir=tmp_path, database_url=url))
    assert finding.level is CheckLevel.POOR
    assert "no PostgreSQL answers at 127.0.0.1:1" in finding.text
    assert "not-to-be-told" not in f"{finding.text}{finding.remedy}"


@pytest.mark.full_size
async def test_with_a_database_the_folder_is_not_reported(tmp_path: Path) -> None:
    if reason := missing():
        pytest.skip(reason)
    with running_postgres() as server:
        url = await server.database()
        async with shared_pages(url) as pages:
            pages.put(entry("https://example.org/mill", text="The wind turns the mill."))
            await pages.flush()
        env = {"SEARCH_MCP_DATA": str(tmp_path), "SEARCH_MCP_DATABASE_URL": url}
        output = await output_of(*SEARCH_MCP, "cache", "stats", env=env)
        found = await doctor_checks.check_database(Settings(data_dir=tmp_path, database_url=url))
        async with slow_line(server.port, FAR_S) as port:
            far = env | {"SEARCH_MCP_DATABASE_URL": url.replace(f":{server.port}/", f":{port}/")}
            slowly = await output_of(*SEARCH_MCP, "cache", "stats", env=far)
    assert (slowly.code, slowly.out.partition(",")[0]) == (0, "1 page"), slowly.err
    assert output.out.startswith("1 page,") and str(tmp_path) not in output.out
    assert f"the database test_1 at 127.0.0.1:{server.port}" in output.out and "not-to-be-told" not in output.out
    assert [finding.level for finding in found] == [CheckLevel.GOOD]
    assert list(doctor_checks.check_data_folder(Settings(data_dir=tmp_path, database_url=url))) == []
    assert len(list(doctor_checks.check_data_folder(Settings(data_dir=tmp_path)))) == 1
