"""The tool `browse`: whose session it is, what its answers mark, and what it refuses by default."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from browsers.acting.page_requests import ActingMode
from scraper.coordination.state import SharedStateStatus
from scraper.errors import ScraperError
from scraper.reading.browsing import BrowseResult, BrowseRunner, check_steps
from scraper.services import Services
from scraper.store.login_profiles import LoginProfiles
from scraper.tools.browser_tools import browse_tool
from scraper.tools.model import ToolAnswer, ToolCall
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def browse(app: Services, *steps: str, session: str | None = None, principal: str = "ann") -> ToolAnswer:
    arguments = {"steps": list(steps)} | ({"session": session} if session else {})
    return await browse_tool(app.settings).run(app, arguments, ToolCall(principal, deadline_s=60))


def session_of(answer: ToolAnswer) -> str:
    found = re.match(r"Session ([0-9a-f]{32}):", answer.text)
    assert found is not None, answer.text
    return found[1]


async def test_a_session_lasts_several_calls_of_its_caller(app: Services, site: Site) -> None:
    first = await browse(app, f"open {site.url('/acting/form')}", 'type "Search" = kettle')
    session = session_of(first)
    assert not first.is_error and "<<<untrusted" in first.text and 'searchbox "Search"' in first.text
    second = await browse(app, "press Enter", session=session)
    assert 'page "Acting found"' in second.text and session not in second.text
    stranger = await browse(app, "look", session=session, principal="eve")
    assert stranger.is_error and "no such session" in stranger.text and stranger.failures[0].code == "no_such_session"
    assert "Behind a balancer: each caller must stay at one server (docs/scale.md)." in stranger.text
    assert (await browse(app, "close", session=session)).text.startswith("The session has ended.")


async def test_a_session_of_another_server_is_named_as_a_reason(app: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.shared, "status", lambda: SharedStateStatus(configured=True, servers=3))
    answer = await browse(app, "look", session="0" * 32)
    assert "it has ended, its id is wrong, or another server has it." in answer.text
    assert "This server shares its state with 2 others: each caller must stay at one server" in answer.text


async def test_everything_from_the_page_is_in_a_region(app: Services, site: Site) -> None:
    answer = await browse(app, f"open {site.url('/acting/hostile')}", "read", "close")
    outside = re.sub(r"(?s)<<<untrusted ([0-9a-f]{8})>>>.*?<<<end untrusted \1>>>", "", answer.text)
    assert "Pretend" in answer.text and "DETAIL" in answer.text and "HIDDEN" not in answer.text
    assert "Pretend" not in outside and "DETAIL" not in outside


async def test_a_download_is_a_resource(app: Services, site: Site) -> None:
    answer = await browse(app, f"open {site.url('/acting/windows')}", 'click "File"')
    (file,) = answer.media
    assert (file.data, file.media_type) == (b"1,2", "text/csv") and 'download "table.csv" (3 bytes)' in answer.text
    assert f"Download of step 2: read the resource {file.uri} within 10 minutes." in answer.text
    await browse(app, "close", session=session_of(answer))


async def test_by_default_nothing_is_sent(app: Services, site: Site) -> None:
    hits = site.hits("/acting/sent")
    refused = await browse(app, f"open {site.url('/acting/form')}", 'click "Order"', "look")
    assert refused.is_error and "SEARCH_MCP_ACTING=act" in refused.text
    assert 'step 2 ("click' in refused.text and "step 3" not in refused.text
    assert site.hits("/acting/sent") == hits
    await browse(app, "close", session=session_of(refused))


@pytest.mark.parametrize("mode", list(ActingMode))
async def test_the_person_is_asked_only_if_the_operator_allows_writes(
    app: Services, site: Site, monkeypatch: pytest.MonkeyPatch, mode: ActingMode
) -> None:
    questions = []

    async def ask(question: str) -> bool:
        questions.append(question)
        return False

    monkeypatch.setattr(app.browsing, "_mode", mode)
    hits = site.hits("/acting/sent")
    steps = [f"open {site.url('/acting/form')}", 'click "Order"']
    answer = await browse_tool(app.settings).run(app, {"steps": steps}, ToolCall("ann", deadline_s=60, ask=ask))
    assert answer.is_error and len(questions) == (mode is ActingMode.ACT) and site.hits("/acting/sent") == hits
    assert ("the person did not allow" in answer.text) == (mode is ActingMode.ACT)
    await browse(app, "close", session=session_of(answer))


@pytest.mark.parametrize("allows", [True, False])
async def test_a_file_below_the_document_root_is_given_if_the_person_allows_it(
    app: Services, site: Site, tmp_path: Path, allows: bool
) -> None:
    questions = []

    async def ask(question: str) -> bool:
        questions.append(question)
        return allows

    (tmp_path / "root" / "scans").mkdir(parents=True)
    (tmp_path / "root" / "scans" / "note.txt").write_text("hello")
    (tmp_path / "secret.txt").write_text("secret")
    settings = replace(app.settings, document_root=tmp_path / "root", acting="act")
    logins = LoginProfiles(app.store.records, tmp_path, None)
    runner = BrowseRunner(app.browsers, app.fetcher.visitor, app.workers, logins, settings, app.shared)

    async def upload(file: str, session: str | None = None) -> BrowseResult:
        opened = [] if session else [f"open {site.url('/acting/files')}"]
        steps = check_steps([*opened, f'upload "Scan" = {file}', "look log"], has_session=session is not None)
        return await runner.run(steps, session, principal="ann", deadline_s=60, ask=ask)

    for outside in ("../secret.txt", str(tmp_path / "secret.txt"), "scans/none.txt"):
        with pytest.raises(ScraperError):
            await upload(outside)
    done = await upload("scans/note.txt")
    assert [question[:57] for question in questions] == ['May the step give the file "note.txt" to site.example? Th']
    assert ("note.txt text/plain hello" in done.steps[-1].outcome.content) == allows
    assert ("the person did not allow to give" in done.error) != allows
    await browse(app, "close", session=done.session)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (["look"], "look needs a page"),
        (["open ftp://example.com/"], "http"),
        (["open file:///etc/passwd"], "http"),
        (["open javascript:alert(1)"], "http"),
        (["open data:text/html,x"], "http"),
        (["open http://169.254.169.254/latest/"], "169.254.169.254"),
        ([], "steps"),
        (["look"] * 200, "steps"),
        (["opne https://example.com/"], "did you mean: open URL"),
        (["open http://127.0.0.1/"], "127.0.0.1"),
    ],
)
async def test_wrong_calls_say_what_to_do(app: Services, steps: list[str], message: str) -> None:
    answer = await browse(app, *steps)
    assert answer.is_error and message in answer.text, answer.text


async def test_a_page_that_cannot_be_loaded_opens_no_session(app: Services, site: Site) -> None:
    count = app.browsers.acting.count
    answer = await browse(app, "open http://nowhere.invalid/")
    assert answer.is_error and not answer.text.startswith("Session")
    assert app.browsers.acting.count == count
