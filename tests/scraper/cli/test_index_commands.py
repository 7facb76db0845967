"""Indexes of own texts on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scraper.cli.in_process import command_output

pytestmark = pytest.mark.browser


def test_texts_are_added_and_found_by_later_commands(here: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("The moon pulls the sea.")
    (tmp_path / "sun.md").write_text("Solar power is cheap.")
    files = [str(tmp_path / name) for name in ("tides.md", "sun.md")]
    assert command_output("index", "create", "notes", env=here).out == "Created index notes.\n"
    added = command_output("index", "add", "notes", *files, env=here)
    assert (added.code, added.out) == (0, "Added tides.md: 5 words.\nAdded sun.md: 4 words.\n")
    found = command_output("index", "search", "notes", "moon", env=here)
    assert found.code == 0 and found.out.startswith("tides.md (")
    marked = command_output("index", "search", "notes", "moon", env=here | {"CLAUDECODE": "1"}).out
    assert "\n<<<untrusted " in marked and f"\n{found.out}<<<end " in marked
    nothing = command_output("index", "search", "notes", "mars", env=here)
    assert (nothing.code, nothing.out) == (1, "Nothing found.\n")
    as_json = command_output("index", "search", "notes", "power", "--json", env=here)
    assert [hit["doc_id"] for hit in json.loads(as_json.out)["results"]] == ["sun.md"]


def test_indexes_are_listed_with_their_sizes(here: dict[str, str]) -> None:
    listed = command_output("index", "list", env=here)
    assert (listed.code, listed.out) == (0, "There are no indexes. Create one: search-mcp index create NAME\n")
    command_output("index", "create", "notes", env=here)
    command_output("index", "add", "notes", "-", "--id", "one", env=here, stdin=b"low tide")
    assert command_output("index", "list", env=here).out == "notes: 1 text\n"
    assert json.loads(command_output("index", "list", "--json", env=here).out) == [{"name": "notes", "documents": 1}]


def test_indexes_of_an_unusable_store_are_not_listed_as_none(here: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    output = command_output("index", "list", env=here | {"SEARCH_MCP_DATA": str(tmp_path / "file")})
    assert (output.code, output.out) == (1, "") and "The store cannot be used" in output.err


def test_a_text_comes_from_standard_input(here: dict[str, str]) -> None:
    command_output("index", "create", "notes", env=here)
    metadata = ("--metadata", '{"from": "me"}')
    added = command_output("index", "add", "notes", "-", "--id", "one", *metadata, env=here, stdin=b"low tide")
    assert (added.code, added.out) == (0, "Added one: 2 words.\n")
    found = json.loads(command_output("index", "search", "notes", "tide", "--json", env=here).out)
    assert found["results"][0]["metadata"] == {"from": "me"}


def test_a_missing_index_names_the_command_that_creates_it(here: dict[str, str]) -> None:
    output = command_output("index", "search", "none", "tide", env=here)
    assert (output.code, output.out) == (1, "")
    assert output.err == "There is no index none. Create it with `search-mcp index create none`.\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-",), "with --id"),
        (("BINARY",), "cannot be read as UTF-8 text"),
        (("TEXT", "TEXT", "--id", "a"), "for one file only"),
        (("TEXT", "--metadata", "[1]"), "must be a JSON object"),
        (("none.md",), "does not exist"),
    ],
)
def test_wrong_usage_is_explained(arguments: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    (tmp_path / "BINARY").write_bytes(b"\xff\x00")
    (tmp_path / "TEXT").write_text("a tide")
    paths = [str(tmp_path / word) if word.isupper() else word for word in arguments]
    output = command_output("index", "add", "notes", *paths)
    assert output.code == 2 and reason in output.err


def test_find_tools_names_commands(here: dict[str, str]) -> None:
    output = command_output("find-tools", "read a pdf", env=here)
    assert output.code == 0 and output.out.startswith("- search-mcp read-doc SOURCE: ")
    nothing = command_output("find-tools", "zzqq", env=here)
    assert nothing.code == 1 and "None of the tools fits" in nothing.out
