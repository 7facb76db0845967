"""Commands `index create`, `add`, `search` and `list`, and `find-tools`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import LOG_SETTINGS, Command, load_settings, with_settings
from scraper.cli.store_access import with_store
from scraper.cli.tool_output import get_command_name, print_text, run_and_print, wants_json, with_output_options

if TYPE_CHECKING:
    from scraper.tools.model import ToolAnswer

_PRINCIPAL = "local"
_INDEX_SETTINGS = LOG_SETTINGS | {"data_dir", "database_url"}
_TOOL_LINE = re.compile(r"^- (\w+)\(([^)]*)\): ", re.MULTILINE)


@click.group()
def index() -> None:
    """Create, fill, search and list indexes of your own texts."""


@index.command(cls=Command, examples=["index create notes", "index create code --min-length 1 --case-sensitive"])
@click.argument("name")
@click.option("--min-length", type=click.IntRange(1, 100), help="Ignore shorter words.  [2]")
@click.option("--case-sensitive", is_flag=True, help="Distinguish capital letters.")
@with_output_options(has_marks=False)
@with_settings(_INDEX_SETTINGS)
def create(name: str, min_length: int | None, case_sensitive: bool, **flags: Any) -> int:
    """Create the index NAME in the data folder.

    NAME has letters, digits, - and _.
    """
    words: dict[str, Any] = {"lowercase": not case_sensitive}
    if min_length is not None:
        words["min_length"] = min_length
    arguments = {"index_name": name, "backend": "sqlite", "tokenizer_config": words}
    return run_and_print("search_create_index", {**flags, **arguments}, plain=lambda answer: f"Created index {name}.")


@index.command(
    cls=Command, examples=["index add notes diary.md", "fetch example.com | search-mcp index add notes - --id example"]
)
@click.argument("name")
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True, dir_okay=False, exists=True))
@click.option("--id", "doc_id", help="Id of the text.  [name of the file]")
@click.option("--metadata", metavar="<JSON>", help="Object that is returned with each hit.")
@with_output_options(has_marks=False)
@with_settings(_INDEX_SETTINGS)
def add(name: str, files: tuple[str, ...], doc_id: str | None, metadata: str | None, **flags: Any) -> int:
    """Add text files to the index NAME, or replace them.

    FILES are text files; - is standard input.
    """
    if doc_id is not None and len(files) > 1:
        raise click.UsageError("--id is for one file only.")
    codes = []
    for file in files:
        if file == "-" and doc_id is None:
            raise click.UsageError("Give the text from standard input a name with --id.")
        arguments = {
            "index_name": name,
            "doc_id": doc_id or Path(file).name,
            "content": _read(file),
            "metadata": _parse_object(metadata),
        }
        codes.append(run_and_print("search_add_document", {**flags, **arguments}, plain=_added_line))
    return max(codes)


@index.command("search", cls=Command, examples=['index search notes "tidal power"', "index search notes +tide -moon"])
@click.argument("name")
@click.argument("query")
@click.option("--limit", "k", type=click.IntRange(1, 100), default=10, help="Maximum number of texts.  [10]")
@with_output_options(has_marks=False)
@with_settings(_INDEX_SETTINGS)
def search_texts(name: str, **flags: Any) -> int:
    """Search the texts of the index NAME.

    +word is required, -word is excluded, "exact phrase" works.
    """
    found: list[int] = []

    def plain(answer: ToolAnswer) -> str:
        data: Any = answer.structured
        found.append(data["total_matches"])
        rows = [f"{hit['doc_id']} ({hit['score']:.2f})\n  " + "\n  ".join(hit["highlights"]) for hit in data["results"]]
        return "\n\n".join(row.rstrip() for row in rows) or "Nothing found."

    code = run_and_print("search_index", {**flags, "index_name": name}, plain=plain)
    return ExitCode.INCOMPLETE if found == [0] else code


@index.command("list", cls=Command, examples=["index list", "index list --json"])
@with_output_options(has_marks=False)
@with_settings(_INDEX_SETTINGS)
def list_indexes(**flags: Any) -> int:
    """Print the indexes with their numbers of texts, also those that `crawl` has created."""
    from scraper.store.indexes.model import IndexFaultError

    try:
        found = with_store(
            load_settings(flags), lambda store: store.indexes.names(principal=_PRINCIPAL, needs_store=True)
        )
    except IndexFaultError:
        raise click.ClickException("The store cannot be used. See: search-mcp doctor") from None
    # Indexes in memory are those of a running server.
    rows = [{"name": one.name, "documents": one.documents} for one in found if one.backend != "memory"]
    if wants_json(flags):
        text = json.dumps(rows)
    elif rows:
        text = "\n".join(
            f"{row['name']}: {row['documents']:,} {'text' if row['documents'] == 1 else 'texts'}" for row in rows
        )
    else:
        text = "There are no indexes. Create one: search-mcp index create NAME"
    print_text(text, flags["output"])
    return ExitCode.SUCCESS


@click.command(cls=Command, examples=['find-tools "read a PDF"', 'find-tools "pages about tides" --kind resources'])
@click.argument("query")
@click.option("--kind", type=click.Choice(["tools", "prompts", "resources"]), help="What to find.  [tools]")
@click.option("--start", type=int, help="First item to print.  [0]")
@with_output_options()
@with_settings(_INDEX_SETTINGS)
def find_tools(**flags: Any) -> int:
    """Find the command, prompt or cached text for a task."""

    def plain(answer: ToolAnswer) -> str:
        from scraper.cli.tool_output import rewrite_answer
        from scraper.render.untrusted_text import remove_untrusted_marks

        return remove_untrusted_marks(_TOOL_LINE.sub(_command_line, rewrite_answer(answer.text)))

    return run_and_print("find_tools", flags, plain=plain)


def _command_line(tool: re.Match[str]) -> str:
    arguments = "".join(f" {name.upper()}" for name in tool[2].split(", ") if name)
    return f"- search-mcp {get_command_name(tool[1])}{arguments}: "


def _added_line(answer: ToolAnswer) -> str:
    data: Any = answer.structured
    verb = "Replaced" if data["status"] == "re-indexed" else "Added"
    return f"{verb} {data['doc_id']}: {data['token_count']:,} words."


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        hint = " `search-mcp read-doc` prints other documents as text." if file != "-" else ""
        raise click.UsageError(f"{file} cannot be read as UTF-8 text.{hint}") from None


def _parse_object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise click.UsageError("--metadata must be a JSON object.")
    return value
