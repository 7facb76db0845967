"""Write output files of commands atomically."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import click

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
