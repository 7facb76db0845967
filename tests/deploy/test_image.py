"""All files that the Dockerfile copies are in the build context, and the image has all that deploy/ needs."""

from __future__ import annotations

import re

import pytest

from devtools.image.build import ImageError, run
from tests.deploy.test_compose import search
from tests.scraper.process import REPOSITORY


def test_copied_files_are_in_the_build_context() -> None:
    dockerfile = (REPOSITORY / "Dockerfile").read_text()
    sent = [line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [source for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.M) for source in line.split()[:-1]]
    assert len(copied) > 4
    for source in copied:
        assert any(source == one or source.startswith(one + "/") for one in sent), source
        assert (REPOSITORY / source).exists()


def test_the_image_contains_the_clients_of_the_services_in_compose() -> None:
    locks = re.findall(r"-r (requirements/[a-z]+\.txt)", (REPOSITORY / "Dockerfile").read_text())
    text = "".join((REPOSITORY / lock).read_text() for lock in locks)
    names = set(re.findall(r"^([a-z0-9-]+)==", text, re.M))
    wanted = {"SEARCH_MCP_DATABASE_URL_FILE": "asyncpg", "SEARCH_MCP_SHARED_URL_FILE": "redis"}
    assert wanted.keys() <= search()["environment"].keys()
    assert set(wanted.values()) <= names


def test_a_step_is_printed_at_once_and_all_output_only_after_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ImageError, match="a detail"):
        run(["sh", "-c", "echo STEP 1/2; echo a detail; exit 3"], shown="STEP ")
    assert capsys.readouterr().out == "  STEP 1/2\n"
