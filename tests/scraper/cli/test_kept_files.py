"""Files of long answers: where they are written, and what is printed about them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from scraper.cli import warm_client
from scraper.cli.callers import RemoteCommand, remote_command
from scraper.cli.files import describe_file, shorten
from scraper.cli.output_files import NOT_KEPT
from scraper.cli.tool_output import print_text
from scraper.settings import Settings
from scraper.text.token_estimate import estimate

PARTS = "".join(f"## Part {number}\n\n```sh\n# comment {number}\n```\n\n{'word ' * 40}\n\n" for number in range(60))
LIMIT = 800


@pytest.fixture(params=["process", "server"])
def way(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the command runs; its working folder is `tmp_path/work`."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return str(request.param)


def printed(way: str, capsys: pytest.CaptureFixture[str], *, code: int = 0, is_json: bool = False) -> str:
    """Return what a command prints of the long text, in a process of its own or as the client of a server."""
    if way == "process":
        assert print_text(PARTS, None, max_tokens=LIMIT, name="long", is_json=is_json) == code
        return capsys.readouterr().out

    def run(_: object) -> None:
        raise AssertionError

    command = RemoteCommand(Path.cwd(), True, "", run, Settings())  # type: ignore[arg-type]
    token = remote_command.set(command)
    try:
        parts = shorten(PARTS, LIMIT, "long", is_json=is_json)
    finally:
        remote_command.reset(token)
    files = [(name, base64.b64encode(data).decode(), note) for name, data, note in command.files]
    assert warm_client.deliver({"files": files, "printed": [(0, part) for part in parts], "code": 0}) == code
    return capsys.readouterr().out


def test_the_headings_of_the_rest_are_named(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown, note = printed(way, capsys).split("The rest is in ")
    last = shown.count("## Part") - 1
    (file,) = Path(".search-mcp").glob("*.md")
    line = file.read_text().splitlines().index(f"## Part {last + 1}") + 1
    first_line = int(note.partition("Headings from line ")[2].partition(":")[0])
    assert f"\nPart {last + 1}; Part {last + 2}; " in note and f"Part {last};" not in note and "comment" not in note
    assert last > 5 and 0 <= line - first_line < 8 and estimate(shown + note) <= LIMIT
    assert file.read_text() == PARTS and Path(".search-mcp/.gitignore").read_text() == "*\n"


def test_a_long_first_heading_is_named_in_part() -> None:
    text = describe_file(Path("page.md"), f"# {'Tides of the sea ' * 20}\n\n# Second\n")
    assert "Tides of the sea" in text and len(text) < 250


def test_a_link_in_the_folder_is_replaced(way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(way, capsys)
    (file,) = Path(".search-mcp").glob("*.md")
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    for one in (file, Path(".search-mcp/.gitignore")):
        one.unlink()
        one.symlink_to(precious)
    printed(way, capsys)
    assert precious.read_text() == "precious" and file.read_text() == PARTS and not file.is_symlink()


def test_a_folder_that_is_a_link_gets_no_file(way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / ".gitignore").write_text("*.pyc\n")
    Path(".search-mcp").symlink_to(tmp_path / "repo")
    output = printed(way, capsys, code=1)
    assert "## Part 5" in output and ".search-mcp is a link" in output and "The rest is in" not in output
    assert [one.name for one in (tmp_path / "repo").iterdir()] == [".gitignore"]
    assert (tmp_path / "repo" / ".gitignore").read_text() == "*.pyc\n"


def test_an_answer_that_cannot_be_kept_is_printed(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    # A file in place of the folder, because root may write to any folder.
    Path(".search-mcp").write_text("")
    output = printed(way, capsys, code=1)
    assert "## Part 5" in output and "--start" in output and output.count("cannot be written") == 1
    assert "The rest is in" not in output
    assert printed(way, capsys, code=1, is_json=True).startswith(NOT_KEPT)
