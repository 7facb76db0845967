"""Commands that read, search or act on single pages and questions, and their input from files and standard input."""

import contextlib
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from scraper.cli import message_rewriting, tool_output
from scraper.cli.callers import (
    LeaveServerError,
    RefusedError,
    check_path,
    leave_server,
    locate,
    remote_command,
    runs_for_agent,
)
from scraper.cli.exit_codes import ExitCode, code_of_answer
from scraper.cli.files import read_recipe, write_file
from scraper.cli.message_rewriting import SESSION_ADVICE
from scraper.cli.setting_options import READ, READ_MANY, command, load_settings
from scraper.cli.warm_client import causes
from scraper.engines.model import DEFAULT_ENGINES
from scraper.settings import Settings, SettingsError
from scraper.settings.files import find_config_file
from scraper.urls import guess_urls

if TYPE_CHECKING:
    from scraper.tools.model import Tool


@command("search", READ)
def search(no_cache: bool, **flags: Any) -> int:
    """Query several search engines at once and print one list."""
    lists = {name: flags[name] or None for name in ("engines", "include_domains", "exclude_domains")}
    return tool_output.run_and_print("search", {**flags, **lists, "use_cache": not no_cache})


@command("web-search", READ)
def web_search(**flags: Any) -> int:
    """Query DuckDuckGo only and print its results."""
    if tool_output.wants_json(flags):
        # The answer of the tool `web_search` is only text.
        return tool_output.run_and_print("search", {**flags, "engines": ["duckduckgo"]})
    return tool_output.run_and_print("web_search", flags)


@command("instant-answer", READ)
def instant_answer(**flags: Any) -> int:
    """Print DuckDuckGo's instant answer, if it has one."""
    return tool_output.run_and_print("instant_answer", flags)


@command("engines")
def engines(**flags: Any) -> int:
    """List the search engines and sources, and their purpose."""
    # Imported late, so that help is printed without loading the page readers.
    from scraper.engines.registry import ENGINES
    from scraper.engines.sources import SOURCES

    rows: list[dict[str, Any]] = [
        {"name": one.name, "default": one.name in DEFAULT_ENGINES, "about": one.about} for one in ENGINES.values()
    ]
    lines = [f"{row['name']}{' (default)' if row['default'] else ''}: {row['about']}" for row in rows]
    lines.append("\nSources, used for a category or by name:")
    for one in SOURCES.values():
        limit = f"1 request in {one.spacing_s:g} s" + (f", {one.per_day} a day" if one.per_day else "")
        row = {"name": one.name, "default": False, "about": one.about, "category": one.category}
        rows.append(row | {"by_name": one.is_by_name, "kind": str(one.kind), "limit": limit})
        use = "by name" if one.is_by_name else one.category
        lines.append(f"{one.name} ({use}, {one.kind}, {limit}): {one.about}")
    text = json.dumps(rows, ensure_ascii=False) if tool_output.wants_json(flags) else "\n".join(lines)
    return tool_output.print_text(text, flags["output"], max_tokens=flags["max_tokens"])


@command("research", READ_MANY)
def research(engines: tuple[str, ...], no_fetch: bool, no_cache: bool, **flags: Any) -> int:
    """Search, read the best pages and print the passages that answer the question."""
    arguments = {"engines": engines or None, "fetch": not no_fetch, "use_cache": not no_cache}
    return tool_output.run_and_print("research", flags | arguments)


_IMAGE_TYPES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}
_FILES = {".pdf": "pdf", ".mhtml": "mhtml", ".mht": "mhtml"}


@command("see", READ | {"profile_key"})
def see(output: Path, as_json: bool, **flags: Any) -> int:
    """Save a picture of a page as a browser window shows it, with its images."""

    def make(settings: Settings) -> "Tool":
        # Imported late, so that help is printed without loading the tools.
        from scraper.tools.browser_tools import see_tool

        return see_tool(settings, image_type=_IMAGE_TYPES.get(suffix, "png"), is_single=True)

    suffix = output.suffix.lower()
    if suffix not in (_IMAGE_TYPES | _FILES):
        raise click.UsageError(f"{output} must end with {', '.join(_IMAGE_TYPES | _FILES)}.")
    tool_output.check_folder(output)
    url, other = guess_urls(flags["url"])
    arguments = tool_output.select_arguments(flags) | {"url": url}
    arguments |= {"what": _FILES[suffix]} if suffix in _FILES else {}
    answer = tool_output.run_tool("see", arguments, load_settings(flags), other_urls={url: other}, make=make)
    text = message_rewriting.rewrite_message(answer.text)
    if answer.is_error:
        click.echo(text, err=True)
        return code_of_answer(answer)
    (picture,) = answer.media
    write_file(output, picture.data)
    if as_json:
        facts = {"file": str(output), "media_type": picture.media_type, "bytes": len(picture.data)}
        click.echo(json.dumps({**facts, "result": text}, ensure_ascii=False))
    elif runs_for_agent():
        click.echo(f"{output}\n{text}")
    for line in text.splitlines():
        if line.startswith("Warning: ") and not as_json:
            click.echo(line, err=True)
    return code_of_answer(answer)


_SUFFIXES = frozenset(
    ".pdf .doc .docx .xls .xlsx .xlsb .ppt .pptx .odt .ods .odp .epub .rtf .csv .tsv .txt .md .json .xml .html .htm "
    ".tex .rst .adoc .ipynb .eml .msg .ics .vcf .srt .vtt .mhtml .mht".split()
)
"""Suffixes of documents. A single word with such a suffix is a file, not a host."""

_STDIN = "-"
_STDIN_NAME = "stdin"
_MAX_STDIN_BYTES = 1_000_000_001
"""Bytes. One more than the largest limit of a document, so that longer input is refused as too large."""


@command("fetch", READ | {"max_answer_tokens", "profile_key"})
def fetch(include: tuple[str, ...], **flags: Any) -> int:
    """Read one page and print it as Markdown.

    It prints the whole text of the page and nothing else. --json and --marked print the part that an agent gets.
    If URL is -, the page or document is read from standard input.
    """
    if flags["url"] == _STDIN:
        if include or any(
            flags.pop(name) is not None
            for name in ("render", "force_refresh", "max_age_hours", "profile", "wait_for", "select", "exclude")
        ):
            raise click.UsageError("Standard input is no page of the web: --render, --profile and the like need a URL.")
        del flags["url"]
        return _print_stdin(flags)
    if include:
        if not tool_output.wants_json(flags):
            raise click.UsageError("--include needs --json.")
        flags["include"] = ",".join(include)
    if (flags["text"] or flags["html"]) and (tool_output.wants_json(flags) or flags["question"] is not None):
        raise click.UsageError("--text and --html go with neither --json nor --question.")
    if Path(flags["url"]).suffix.lower() in _SUFFIXES and os.path.isfile(locate(flags["url"])):
        command = shlex.join(["search-mcp", "read-doc", flags["url"]])
        raise click.UsageError(f"{flags['url']} is a file. Read it with: {command}")
    return _print_page("fetch", flags, "url", is_whole=flags["question"] is None)


@command("fetch-batch", READ_MANY | {"batch_limit"})
def fetch_batch(urls: tuple[str, ...], file: IO[str] | None, **flags: Any) -> int:
    """Read many pages at once; they share the size of one answer.

    A - among the URLs reads further ones from standard input, one per line. For long lists and whole pages, use
    `search-mcp bulk`.
    """
    all_urls = [url for word in urls for url in (_read_urls(sys.stdin) if word == "-" else [word])]
    all_urls += _read_urls(file) if file else []
    if not all_urls:
        raise click.UsageError("Give at least one URL, a file of them with -f, or - to read them from stdin.")
    return tool_output.run_and_print_pages("fetch_batch", flags, all_urls)


@command("read-doc", READ | {"max_answer_tokens", "document_root", "document_mb"})
def read_doc(**flags: Any) -> int:
    """Read one document (PDF, Word, Excel, ...) and print it as Markdown.

    SOURCE is a URL or a file, also of the folder of SEARCH_MCP_DOCUMENT_ROOT, or - for standard input. With
    --document-root, only files of that folder are read.
    """
    if flags["source"] == _STDIN:
        return _print_stdin(flags)
    file = locate(Path(flags["document_root"] or "", flags["source"]).expanduser())
    if os.path.isfile(file):
        check_path(file)
        leave_server()
        if flags["document_root"] is None:
            file = file.resolve()
            flags.update(source=file.name, document_root=str(file.parent))
        return _print_file(flags)
    if flags["document_root"] is None:
        source, root = flags["source"], None
        # The tool reports wrong settings.
        with contextlib.suppress(SettingsError):
            root = Settings.load(os.environ, {}, find_config_file()).document_root
        if root is not None and os.path.isfile(root / source):
            leave_server()
            return _print_file(flags)
        is_url = ":" in source or guess_urls(source)[0] != source
        if (file.suffix.lower() in _SUFFIXES and file.name == source) or not is_url:
            raise click.UsageError(f"There is no file {source}. Give a URL, or the path of a file.")
    return _print_page("read_doc", flags, "source", is_whole=_is_whole(flags))


@command("compare", READ_MANY)
def compare(urls: tuple[str, ...], **flags: Any) -> int:
    """Read two to five pages and print the passages of each that answer the question."""
    return tool_output.run_and_print_pages("compare", flags, urls)


@command("extract-structured", READ | {"max_answer_tokens"})
def extract_structured(urls: tuple[str, ...], **flags: Any) -> int:
    """Print the machine-readable data of a page: JSON-LD, microdata, OpenGraph, RDFa, product facts.

    --records, --fields, --example and --recipe read up to ten pages.
    """
    if flags["recipe"] is not None:
        flags["recipe"] = read_recipe(flags["recipe"])
    has_rows = any(flags[name] for name in ("records", "fields", "example", "recipe"))
    if len(urls) > 1 and not has_rows:
        raise click.UsageError("Give one URL, or --records, --fields, --example or --recipe for several.")
    if flags["fields"] and flags["fields"].lstrip()[:1] not in ("{", "["):
        flags["fields"] = {name.strip(): "" for name in flags["fields"].split(",") if name.strip()}
    return tool_output.run_and_print_pages("extract_structured", flags, urls, name="url", has_rows=has_rows)


@command("browse", READ | {"max_answer_tokens", "acting", "page_tools", "profile_key"})
def browse(steps: tuple[str, ...], file: IO[str] | None, **flags: Any) -> int:
    """Run steps on a page in a browser, and print the changes after each.

    A step is `open URL`, `click "Text"`, `type "Field" = text`, `press Enter`, `look`, `read` or another one of
    docs/acting.md. For coding agents it only reads; `act` may change something.
    """
    return _run_steps(steps, file, flags, may_act=not runs_for_agent() or flags["acting"] == "act")


@command("act", READ | {"max_answer_tokens", "acting", "page_tools", "profile_key"})
def act(steps: tuple[str, ...], file: IO[str] | None, **flags: Any) -> int:
    """Run steps that may change something on a site, such as sending a form.

    It needs SEARCH_MCP_ACTING=act. Steps are those of `browse`.
    """
    if load_settings(flags).acting != "act":
        raise RefusedError("`act` needs SEARCH_MCP_ACTING=act, set by the person at this machine. `browse` only reads.")
    return _run_steps(steps, file, flags, may_act=True)


def _run_steps(steps: tuple[str, ...], file: IO[str] | None, flags: dict[str, Any], *, may_act: bool) -> int:
    all_steps = [*steps, *(line.strip() for line in file or () if line.strip() and not line.startswith("#"))]
    if not all_steps:
        raise click.UsageError("Give at least one step, or a file of them with -f.")
    remote = remote_command.get()
    cause = f"no warm server ran it: {causes[0]}" if causes else "-f, --no-daemon and flags of settings begin one"
    if flags["session"] is not None and remote is None:
        click.echo(f"Session {flags['session']} is not in this process; {cause}. {SESSION_ADVICE}", err=True)
        return ExitCode.SESSION_LOST
    if causes:
        click.echo(f"The session ends with this command; {cause}.", err=True)
    if remote is not None and remote.uploads is None and (paths := _find_uploads(all_steps, remote.settings)):
        raise LeaveServerError({"read": paths})
    files = {} if remote is None else remote.uploads or {}
    return tool_output.run_and_print("browse", {"steps": all_steps, **flags}, may_act=may_act, files=files)


def _find_uploads(steps: list[str], settings: Settings) -> dict[str, str]:
    """Return the paths by name of the files below the document root that steps upload; the tool reports others."""
    from browsers.acting.step_parser import StepSyntaxError, parse_steps

    root, names = settings.document_root, list[str]()
    with contextlib.suppress(StepSyntaxError):
        names = [step.text for step in parse_steps(steps) if step.verb == "upload" and step.data is None and root]
    paths = {name: os.path.realpath(Path(root or "", name)) for name in names}
    return {name: path for name, path in paths.items() if Path(path).is_relative_to(os.path.realpath(root or ""))}


def _print_page(tool: str, flags: dict[str, Any], name: str, *, is_whole: bool) -> int:
    url, other = guess_urls(flags[name])
    is_part = tool_output.wants_json(flags) or flags.get("marked")
    call = {**flags, name: url}
    if is_whole and not is_part:
        # The text is cut here, not by the tool.
        call.update(start=None, length=None)
    plain = tool_output.whole_text(flags) if is_whole else None
    return tool_output.run_and_print(tool, call, plain=plain, other_urls={url: other})


def _print_stdin(flags: dict[str, Any]) -> int:
    with tempfile.TemporaryDirectory(prefix="search-mcp-") as folder:
        left = _MAX_STDIN_BYTES
        with Path(folder, _STDIN_NAME).open("wb") as file:
            while left > 0 and (chunk := sys.stdin.buffer.read(min(left, 1 << 20))):
                file.write(chunk)
                left -= len(chunk)
        return _print_file({**flags, "source": _STDIN_NAME, "document_root": folder})


def _print_file(flags: dict[str, Any]) -> int:
    return tool_output.run_and_print(
        "read_doc", flags, plain=tool_output.whole_text(flags) if _is_whole(flags) else None
    )


def _is_whole(flags: dict[str, Any]) -> bool:
    return not flags.get("outline") and flags["question"] is None


def _read_urls(lines: Iterable[str]) -> list[str]:
    try:
        # Some editors begin every file with a byte order mark.
        urls = [line.strip().removeprefix("\ufeff") for line in lines]
    except UnicodeDecodeError:
        raise click.UsageError("The list of URLs cannot be read: it is not UTF-8 text.") from None
    return [url for url in urls if url and not url.startswith("#")]
