"""Write output files of commands, those of long answers too, and read recipes from files."""

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import click

from scraper.cli import callers
from scraper.cli.output_files import keep_file, replace_file


def write_file(path: Path, content: str | bytes) -> None:
    """Replace a file, or raise ClickException; the file of a remote command is written by its client."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    if (remote := callers.remote_command.get()) is not None:
        remote.files.append((str(path), data, ""))
        return
    try:
        replace_file(path, data)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror or error}.") from None


def read_recipe(argument: str) -> str:
    """Return a recipe as text, or `{"id": "..."}` for an id; raise UsageError if there is no valid recipe.

    The argument is the recipe, a JSON answer that contains it, a file of either, or its id.
    """
    # Imported late: only jobs and calls with a recipe need it.
    from scraper.facts.fields import extraction_recipes
    from scraper.reading.fields import id_of, is_recipe_id

    if not argument.lstrip().startswith("{"):
        callers.check_path(argument)
        callers.leave_server()
    if is_recipe_id(argument) and not Path(argument).exists():
        return json.dumps({"id": argument})
    try:
        text = argument if argument.lstrip().startswith("{") else Path(argument).read_text("utf-8-sig")
        data: Any = json.loads(text)
    except OSError as error:
        raise click.UsageError(f"--recipe {argument}: it cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        raise click.UsageError("--recipe must be a recipe as JSON, or its file.") from None
    if isinstance(data, dict) and "recipe" in data:
        data = data["recipe"]
    recipe = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        if not (isinstance(data, dict) and id_of(recipe)):
            extraction_recipes.from_text(recipe)
    except ValueError as error:
        raise click.UsageError(f"--recipe must be one that `extract-structured` printed: {error}.") from None
    return recipe


_FOLDER = Path(".search-mcp")
MAX_PRINTED_TOKENS = 5_000
"""Tokens that are printed for an agent. Claude Code shows an agent 30,000 characters of a command at most."""
_MAX_HEADINGS = 40
"""Tokens of the headings in the description of a file."""
_MAX_DESCRIPTION = 120
"""Tokens that are left free for the description of a file."""
_OPENING, _CLOSING = "<<<untrusted ", "<<<end untrusted "


def describe_file(path: Path, text: str, start: int = 0) -> str:
    """Return path and tokens of a file with an answer, and its headings from an offset, marked as text of the web."""
    # Imported late, so that help is printed without loading the tools.
    from scraper.render.untrusted_text import mark_untrusted
    from scraper.text import token_estimate
    from scraper.text.markdown_structure import find_headings
    from scraper.text.sanitize import clean_line
    from scraper.tools.model import new_region

    found = [clean_line(one.text, 60) for one in find_headings(text) if one.start >= start]
    tokens = itertools.accumulate(map(token_estimate.estimate, found))
    headings = [one for one, total in zip(found, tokens, strict=True) if total <= _MAX_HEADINGS] or found[:1]
    about = f"{path}: about {token_estimate.estimate(text):,} tokens, {text.count(chr(10)):,} lines."
    where = f" from line {text.count(chr(10), 0, start) + 1:,}" if start else ""
    marked = mark_untrusted("; ".join(headings), new_region())
    return f"{about} Headings{where}:\n{marked}\n" if headings else f"{about}\n"


def shorten(text: str, limit: int, name: str, *, is_json: bool) -> tuple[str, str]:
    """Return the part of an answer that fits `limit` tokens, and a note that names the file with the whole answer.

    If the file cannot be written, the note says why; a remote client replaces it. `name` identifies the command: the
    same one writes the same file. Half a JSON answer is of no use, so that only its file is named.
    """
    from scraper.text import token_estimate

    if token_estimate.estimate(text) <= limit:
        return text, ""
    words = "".join(letter if letter.isalnum() else "-" for letter in name.partition("://")[2] or name)
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    path = _FOLDER / f"{words[:40].strip('-')}-{digest}.{'json' if is_json else 'md'}"
    if is_json:
        return "", _keep(path, text, describe_file(path, text))
    lines = text.splitlines(keepends=True)
    left, region, end = limit - _MAX_DESCRIPTION, "", 0
    while end < len(lines) and (left := left - token_estimate.estimate(lines[end])) > 0:
        if lines[end].startswith((_OPENING, _CLOSING)):
            region = lines[end].strip()[len(_OPENING) :] if lines[end].startswith(_OPENING) else ""
        end += 1
    closing = f"{_CLOSING}{region}\n" if region else ""
    shown = "".join(lines[:end])
    return f"{shown}{closing}\n", _keep(path, text, f"The rest is in {describe_file(path, text, len(shown))}")


def _keep(path: Path, text: str, note: str) -> str:
    """Write the file of a long answer; return the note, or why the file cannot be written."""
    data = text.encode("utf-8")
    if (remote := callers.remote_command.get()) is not None:
        remote.files.append((str(path), data, note))
        return note
    return keep_file(path, data) or note
