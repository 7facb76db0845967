"""Run a tool and print its answer: plain Markdown for people, JSON, or the text that an agent gets."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scraper.cli import tool_runner
from scraper.cli.exit_codes import code_of_answer
from scraper.cli.files import write_file
from scraper.cli.setting_options import load_settings
from scraper.errors import ScraperError
from scraper.settings import SettingsError, setting_table
from scraper.urls import guess_urls

if TYPE_CHECKING:
    from scraper.facts.fields.model import PageFields
    from scraper.tools.model import ToolAnswer

_VERBS = {
    "cache_search": "cache search",
    "search_index": "index search",
    "search_add_document": "index add",
    "search_create_index": "index create",
}
"""Commands whose names differ from those of their tools."""
TOOLS = (
    "search fetch fetch_batch read_doc research compare map crawl changes see browse extract_structured cache_search "
    "engines web_search instant_answer search_index search_add_document search_create_index find_tools"
).split()
"""Names of all tools that have a command."""
_POSITIONAL = frozenset({"url", "urls", "query", "question", "source", "doc_id", "index_name"})
_OPTIONS = {
    "engines": "--engine",
    "include_domains": "--include-domain",
    "exclude_domains": "--exclude-domain",
    "use_cache": "--no-cache",
    "k": "--limit",
} | {
    name: "--" + name.replace("_", "-")
    for name in (
        "render force_refresh max_age_hours format start length pages outline password max_results freshness category "
        "include_text exclude_text depth limit metadata kind backend crawl include exclude since fields example "
        "records recipe profile tokens"
    ).split()
}
_NAME = "|".join(sorted([*_OPTIONS, *_POSITIONAL], key=len, reverse=True))
_TOOL = "|".join(sorted(TOOLS, key=len, reverse=True))
_CONTINUE_WITH_FETCH = "Continue with fetch, from the `start` of each page."
_ALLOW_NETWORKS = "The operator can allow a private network with SEARCH_MCP_ALLOW_NETS."
_ALLOW_NETWORKS_HERE = "To read pages of your own network, allow it, for example with `--allow-nets 127.0.0.0/8`."
_USE_MEMORY = "Use an index with the backend memory."
"""Advice that is replaced: the command line has no indexes in memory, because they would end with the command."""
_MESSAGE_KEYS = frozenset({"error", "hint", "warnings"})
"""Keys of a JSON answer, and of its rows, for messages of this server rather than text of pages."""
_ROW_KEYS = frozenset({"pages", "documents", "excerpts"})
"""Keys of a JSON answer for lists of rows, which may contain messages too."""
_UNTRUSTED_REGION = re.compile(
    r"(^<<<untrusted ([0-9a-f]{12})>>>$.*?^<<<end untrusted \2>>>$)", re.MULTILINE | re.DOTALL
)


def get_command_name(tool: str) -> str:
    """Return the name of the command for a tool: `read_doc` gives `read-doc`."""
    return _VERBS.get(tool, tool.replace("_", "-"))


def rewrite_message(text: str) -> str:
    """Return a message with commands and options instead of tools and arguments, and without session ids."""
    text = text.replace(
        _CONTINUE_WITH_FETCH, "To go on, run `search-mcp fetch URL --start N` with the start of a page."
    )
    text = text.replace(_ALLOW_NETWORKS, _ALLOW_NETWORKS_HERE).replace(_USE_MEMORY, "See: search-mcp doctor")
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return text


def rewrite_answer(text: str) -> str:
    """Convert the sentences of an answer with `rewrite_message`; regions of untrusted text stay unchanged."""
    parts = _UNTRUSTED_REGION.split(text)
    # Each sealed region gives two parts: the region and its id.
    return "".join(part if at % 3 else rewrite_message(part) for at, part in enumerate(parts) if at % 3 != 2)


def rewrite_json(data: Any) -> Any:
    """Convert the sentences of a JSON answer with `rewrite_message`; data of pages stays unchanged."""
    if isinstance(data, list):
        return list(map(rewrite_json, data))
    if not isinstance(data, dict):
        return data
    return {
        key: _rewrite_sentences(value) if key in _MESSAGE_KEYS else rewrite_json(value) if key in _ROW_KEYS else value
        for key, value in data.items()
    }


def _rewrite_sentences(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_rewrite_sentences, value))
    return rewrite_message(value) if isinstance(value, str) else value


def _rewrite_quoted(match: re.Match[str]) -> str:
    name = match[1]
    if name == "url":
        return "`URL`"
    return f"`{_OPTIONS.get(name) or f'search-mcp {get_command_name(name)}'}`"


def _option_with_value(match: re.Match[str]) -> str:
    option, value = _OPTIONS[match[1]], match[2].strip('"')
    return option if value in ("true", "false") else f"{option} {value}"


_REPLACEMENTS: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^Index not found: (\S+)$", r"There is no index \1. Create it with `search-mcp index create \1`."),
        # A session ends with the command, so its id is of no use.
        (r"(?m)^Session [0-9a-f]{32}: .*\n?", ""),
        (r'\bsearch_index with index_name="([\w-]+)"', r"`search-mcp index search \1 QUERY`"),
        (
            rf"\bcall ({_TOOL}) (again|on this URL) with\b",
            lambda match: f"run `search-mcp {get_command_name(match[1])}` {match[2]} with",
        ),
        (
            r"\bengines=\[([^\]]*)\]",
            lambda match: " ".join(f"--engine {name}" for name in re.findall(r"\w+", match[1])),
        ),
        (rf'\b({"|".join(_OPTIONS)})=("[^"]*"|[\w-]+)', _option_with_value),
        (
            rf"(?:(?<=^)|(?<=\. ))({_NAME})(?= (?:must|has|is|contains)\b)",
            lambda match: _OPTIONS.get(match[1]) or match[1].upper(),
        ),
        (rf"\bthe `({_TOOL})` tool\b", r"`\1`"),
        (r"(?<=`) is the tool for\b", " is the command for"),
        (rf"`({_TOOL}|url|{'|'.join(_OPTIONS)})`", _rewrite_quoted),
    )
)
"""Mentions of tools and arguments, and what replaces them, in this order."""


F = TypeVar("F", bound=Callable[..., Any])
Plain = Callable[["ToolAnswer"], str]
"""Return the text of an answer for people."""

_TABLE_SUFFIXES = frozenset({".csv", ".jsonl"})
_MAX_URL = 200
"""Characters of a URL in a warning."""
_OUTPUT_OPTIONS = ("as_json", "form", "output", "marked")


def run_and_print(
    tool: str,
    flags: dict[str, Any],
    *,
    plain: Plain | None = None,
    other_urls: Mapping[str, str] | None = None,
    has_rows: bool = False,
    resume_key: str = "",
) -> int:
    """Run a tool with the flags as arguments, print its answer and return the exit code.

    Settings and output options are not arguments. With `has_rows`, the answer is written as CSV or JSON lines if the
    output file has such a suffix. If a URL cannot be reached, its replacement in `other_urls` is read instead.
    `resume_key` is that of `ToolCall`.

    Raises:
        UsageError: A setting is invalid, or the folder of the output file does not exist.
    """
    output: Path | None = flags.get("output")
    if output is not None and not output.absolute().parent.is_dir():
        raise click.UsageError(f"The folder of {output} does not exist.")
    settings = load_settings(flags)
    writes_rows = has_rows and is_table(output)
    as_json, is_marked = wants_json(flags) or writes_rows, bool(flags.get("marked"))
    ignored = {setting.name for setting in setting_table()}.union(_OUTPUT_OPTIONS)
    arguments = {name: value for name, value in flags.items() if value is not None and name not in ignored}
    try:
        answer = tool_runner.run_tool(
            tool, arguments, settings, as_json=as_json, other_urls=other_urls, resume_key=resume_key
        )
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    # Tools of indexes report their errors as values.
    fault = answer.structured.get("error") if isinstance(answer.structured, dict) else None
    if answer.is_error or fault:
        is_json = as_json and answer.structured is not None and not fault
        click.echo(_error_text(answer, fault, is_json=is_json, is_marked=is_marked), err=True)
        return code_of_answer(answer)
    if writes_rows and output is not None:
        text = as_table([found for _, found in answer.fields if not isinstance(found, ScraperError)], output)
        _warn_about_rows(answer)
    elif as_json:
        text = _json_text(answer, is_marked=is_marked)
    else:
        text = _text(answer, plain, is_marked=is_marked)
        _warn_about_reading(answer)
    print_text(text, output)
    return code_of_answer(answer)


def _error_text(answer: ToolAnswer, fault: object, *, is_json: bool, is_marked: bool) -> str:
    if is_json:
        return _json_text(answer, is_marked=is_marked)
    return _text(answer, lambda _: _rewrite_for_people(str(fault or answer.text)), is_marked=is_marked)


def run_and_print_pages(
    tool: str, flags: dict[str, Any], urls: Iterable[str], *, name: str = "urls", has_rows: bool = False
) -> int:
    """Run a tool on several URLs and print its answer; URLs without a scheme are tried with https, then http.

    `name` is that of the argument with the URLs, `has_rows` as in `run_and_print`.
    """
    guesses = list(map(guess_urls, urls))
    call = {**flags, name: [url for url, _ in guesses]}
    return run_and_print(tool, call, other_urls=dict(guesses), has_rows=has_rows)


def wants_json(flags: dict[str, Any]) -> bool:
    """Return True if the flags contain --json or --format json."""
    return bool(flags.get("as_json")) or flags.get("form") == "json"


def print_text(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file."""
    text = text if text.endswith("\n") else text + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        write_file(output, text)


def _warn_about_reading(answer: ToolAnswer) -> None:
    """Print the warnings about a page to stderr, so that they do not mix with its text."""
    for warning in answer.reading.warnings if answer.reading else ():
        click.echo(f"Warning: {rewrite_message(warning)}", err=True)


def _text(answer: ToolAnswer, plain: Plain | None, *, is_marked: bool) -> str:
    if is_marked:
        return answer.text
    if plain is not None:
        return plain(answer)
    return _rewrite_for_people(answer.text)


def _json_text(answer: ToolAnswer, *, is_marked: bool) -> str:
    """Return a JSON answer; with `is_marked`, unchanged as an agent gets it."""
    from scraper.render.json_truncation import compact_json

    if answer.structured is None:
        return json.dumps({"result": answer.text if is_marked else rewrite_answer(answer.text)}, ensure_ascii=False)
    return answer.text if is_marked else compact_json(rewrite_json(answer.structured))


def _rewrite_for_people(text: str) -> str:
    """Return an answer or error with commands instead of tools, and without the marks of untrusted text."""
    from scraper.render.untrusted_text import remove_untrusted_marks

    return remove_untrusted_marks(rewrite_answer(text))


def whole_text(flags: dict[str, Any]) -> Plain:
    """Return a function for the plain text of a page or document: all of it, or the part of --start and --length."""

    def plain(answer: ToolAnswer) -> str:
        from scraper.text.markdown_structure import KEEP_WHOLE, cut_markdown

        assert answer.reading is not None
        text, length = answer.reading.document.markdown, flags.get("length")
        start = flags.get("start") or 0
        start = max(0, len(text) + start) if start < 0 else start
        return cut_markdown(text, start, len(text) if length is None else length, keep_whole=KEEP_WHOLE).shown

    return plain


def is_table(output: Path | None) -> bool:
    """Return True if the file name ends with `.csv` or `.jsonl`."""
    return output is not None and output.suffix.lower() in _TABLE_SUFFIXES


def as_table(pages: Iterable[PageFields], output: Path) -> str:
    """Return all records of some pages as CSV or JSON lines; without records, one row of fields for each page."""
    # Imported late, so that help is printed without loading the renderers.
    from scraper.render.fields import csv_cell

    rows: list[Mapping[str, Any]] = []
    for page in pages:
        rows += page.records or [{"url": page.url, **page.values}]
    if output.suffix.lower() == ".jsonl":
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    else:
        table = io.StringIO()
        names = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(map(csv_cell, names))
        writer.writerows([csv_cell(row.get(name)) for name in names] for row in rows)
        text = table.getvalue()
    # A script can leave half a surrogate pair in a page's text, which UTF-8 cannot represent.
    return text.encode("utf-8", "replace").decode("utf-8")


def _warn_about_rows(answer: ToolAnswer) -> None:
    """Print the errors and warnings of pages to stderr: a table has no place for them."""
    from scraper.render.untrusted_text import error_sentence
    from scraper.text.sanitize import clean_line

    for url, found in answer.fields:
        for note in (error_sentence(found),) if isinstance(found, ScraperError) else found.warnings:
            click.echo(f"Warning: {clean_line(url, _MAX_URL)}: {rewrite_message(note)}", err=True)
