"""The command `watch`: a list of pages, exit codes, and a command for each change."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from scraper.cli import site_commands as watch_commands
from scraper.errors import BlockedBySiteError, HostDownError
from scraper.site.model import PageChange
from scraper.site.page_change_tracker import WatchedPage
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import alive
from tests.site.traps.made_site import MadeSite, Prose, Response, build_page
from tests.site.traps.serving import ServedSite, serving


class Shop(MadeSite):
    """One page with a price."""

    name = "shop"
    price = "12 EUR"

    def build(self) -> None:
        """Add the page."""
        text = Prose("shop").paragraphs()

        def page(query: dict[str, str]) -> Response:
            return build_page("Shop", f"{text}<p>A ticket costs {self.price} for adults.</p>")

        self.route("/", page)


def variables(folder: Path, served: ServedSite | None = None) -> dict[str, str]:
    hosts = {"SEARCH_MCP_TEST_HOSTS": f"trap.example=127.0.0.1:{served.port}"} if served else {}
    return {"SEARCH_MCP_DATA": str(folder / "data"), "SEARCH_MCP_LOG_LEVEL": "error", **hosts}


def test_pages_are_added_listed_and_removed(tmp_path: Path) -> None:
    env = variables(tmp_path)
    assert command_output("watch", "list", env=env).code == 1
    added = command_output("watch", "add", "example.com/prices", "--every", "6h", env=env)
    assert (added.code, added.out) == (0, "https://example.com/prices is watched every 6h.\n")
    command_output("watch", "add", "https://example.org/", env=env)
    listed = command_output("watch", "list", env=env)
    assert listed.code == 0
    assert "https://example.com/prices  every 6h, checked never, new" in listed.out
    rows = json.loads(command_output("watch", "list", "--json", env=env).out)
    assert {row["url"]: row["every_s"] for row in rows} == {
        "https://example.com/prices": 21_600,
        "https://example.org/": 86_400,
    }
    assert command_output("watch", "remove", "example.com/prices", env=env).code == 0
    again = command_output("watch", "remove", "example.com/prices", env=env)
    assert again.code == 1 and "was not watched" in again.err
    assert "example.com" not in command_output("watch", "list", env=env).out


@pytest.mark.browser
def test_a_page_without_a_scheme_is_checked_with_https_then_http(tmp_path: Path) -> None:
    with serving(Shop) as (_, served):
        env = variables(tmp_path, served)
        assert command_output("watch", "add", "trap.example/", env=env).out.startswith("https://")
        output = command_output("watch", "run", env=env)
        assert output.code == 0 and "## http://trap.example/" in output.out, output.err
        again = command_output("watch", "add", "trap.example/", "--every", "6h", env=env)
        assert again.out == "http://trap.example/ is watched every 6h.\n"
        (row,) = json.loads(command_output("watch", "list", "--json", env=env).out)
        assert (row["url"], row["other_url"]) == ("http://trap.example/", "")


@pytest.mark.parametrize("every", ["", "6", "0h", "h", "six hours", "-1d"])
def test_a_wrong_interval_is_explained(tmp_path: Path, every: str) -> None:
    output = command_output("watch", "add", "example.com", f"--every={every}", env=variables(tmp_path))
    assert output.code == 2 and "6h" in output.err


def test_a_wrong_address_is_explained(tmp_path: Path) -> None:
    output = command_output("watch", "add", "ftp://example.com", env=variables(tmp_path))
    assert output.code == 2 and "ftp" in output.err


@pytest.mark.browser
def test_a_terminal_is_told_that_no_page_is_due(tmp_path: Path) -> None:
    master, slave = os.openpty()
    env = {**os.environ, **variables(tmp_path)}
    command = [sys.executable, "-m", "scraper.cli.main", "watch", "run"]
    done = subprocess.run(command, env=env, stderr=slave, check=False)
    os.close(slave)
    assert done.returncode == 0 and b"No page is due" in os.read(master, 1000)
    os.close(master)
    assert command_output("watch", "run", env=variables(tmp_path)).err == ""


def test_an_unusable_store_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data" / "records.sqlite").mkdir(parents=True)
    output = command_output("watch", "list", env=variables(tmp_path))
    assert output.code == 1 and "doctor" in output.err


def test_pages_are_due_after_their_interval() -> None:
    page = WatchedPage("https://example.com/", 3_600, 0.0, 10_000.0)
    assert not page.is_due(13_000.0)
    assert page.is_due(13_500.0)
    assert page.is_due(9_000.0), "a clock that was set back postpones a page"


@pytest.mark.browser
def test_changes_are_printed_given_to_a_command_and_in_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Shop) as (made, served):
        env = variables(tmp_path, served)
        command_output("watch", "add", served.url, "--every", "1m", env=env)
        first = command_output("watch", "run", env=env)
        assert first.code == 0 and "first reading" in first.out and "untrusted" not in first.out
        due = command_output("watch", "run", "--json", env=env)
        assert due.code == 0 and json.loads(due.out)["pages"] == []
        made.price = "15 EUR"
        script = tmp_path / "note.py"
        script.write_text(f"import sys, pathlib; pathlib.Path({str(tmp_path / 'seen')!r}).write_text(sys.stdin.read())")
        words, agent = ("watch", "run", "--all", "--exec", f"{sys.executable} {script}"), {"SEARCH_MCP_AGENT": "1"}
        changed = command_output(*words, env={**env, **agent})
        assert changed.code == 10 and "~ A ticket costs [-12-] {+15+} EUR for adults." in changed.out
        assert changed.out.startswith("Pages: 1 changed.\n<<<untrusted ")
        seen = json.loads((tmp_path / "seen").read_text())
        assert seen["url"] == served.url and seen["changes"][0]["kind"] == "edited"
        made.price = "18 EUR"
        failed = command_output("watch", "run", "--all", "--json", "--exec", "exit 3", env=env)
        assert failed.code == 1 and "ended with code 3" in failed.err
        assert json.loads(failed.out)["pages"][0]["status"] == "changed"
        rows = json.loads(command_output("watch", "list", "--json", env=env).out)
        assert rows[0]["status"] == "changed" and rows[0]["checked_at"] > 0
        made.price = "21 EUR"
        monkeypatch.setattr(watch_commands, "EXEC_LIMIT_S", 0.3)
        started = tmp_path / "started"
        hanging = command_output("watch", "run", "--all", "--exec", f"sleep 20 & echo $! > {started}; wait", env=env)
        assert hanging.code == 1 and "did not end within" in hanging.err
        with contextlib.suppress(psutil.NoSuchProcess):
            # The shell was awaited, but its child dies on its own.
            process = psutil.Process(int(started.read_text()))
            psutil.wait_procs([process], timeout=10)
            assert not alive([process])


def test_failures_of_one_kind_have_its_exit_code_also_for_several_pages() -> None:
    same, changed = (PageChange("https://example.com/", status, 0.0) for status in ("same", "changed"))
    down, blocked = HostDownError("down"), BlockedBySiteError("blocked", reason="captcha")
    assert watch_commands.exit_code([same, down, down], 0) == 4
    assert watch_commands.exit_code([blocked, same], 0) == 3
    assert watch_commands.exit_code([down, blocked], 0) == 1
    assert watch_commands.exit_code([down, changed], 0) == 10
    assert watch_commands.exit_code([same, same], 0) == 0
