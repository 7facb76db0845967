"""Write output files of commands atomically, and read recipes from files."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import click

from scraper.cli.callers import check_path

_ALL_MAY_READ = 0o666


def write_file(path: Path, content: str | bytes) -> None:
    """Replace a file atomically. Symbolic links and the mode are preserved; devices and pipes are written directly.

    Raises:
        ClickException: The file cannot be written; its previous version is unchanged.
    """
    target = path.resolve()
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=target.parent, delete=False) as file:
            try:
                file.write(data)
                file.flush()
                _set_mode(Path(file.name), target)
                os.replace(file.name, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(file.name)
                raise
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror or error}.") from None


def _set_mode(new: Path, old: Path) -> None:
    if old.exists():
        shutil.copymode(old, new)
        return
    mask = os.umask(0)
    os.umask(mask)
    new.chmod(_ALL_MAY_READ & ~mask)


def read_recipe(argument: str) -> str:
    """Return a recipe as text; the argument is the recipe, a JSON answer that contains it, a file of either, or its id.

    An id stays one: `{"id": "..."}`.

    Raises:
        UsageError: There is no valid recipe.
    """
    # Imported late: only jobs and calls with a recipe need it.
    from scraper.facts.fields import extraction_recipes
    from scraper.reading.fields import RECIPE_ID, id_of

    if not argument.lstrip().startswith("{"):
        check_path(argument)
    if RECIPE_ID.fullmatch(argument) and not Path(argument).exists():
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
