"""The documentation has a page a tool, as the code has it."""

from __future__ import annotations

from pathlib import Path

from devtools.tool_pages import FOLDER, pages, write
from scraper.tools import registry


def test_the_pages_are_up_to_date() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*")}
    assert written == pages(), "run: python -m devtools.tool_pages"


def test_every_tool_and_argument_is_documented() -> None:
    made = pages()
    for tool in registry.tools():
        page = made[f"{tool.name}.md"]
        assert all(f"| `{name}`" in page for name in tool.input_schema["properties"])
        assert f"[{tool.name}]({tool.name}.md)" in made["README.md"]


def test_the_page_of_a_removed_tool_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("old")
    write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(pages())
