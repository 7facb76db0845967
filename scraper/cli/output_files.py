"""Replace output files atomically. Standard library only: the client of the warm server writes its files too."""

import contextlib
import errno
import os
import shutil
import tempfile
from pathlib import Path

NOT_KEPT = "What is not shown cannot be kept: "


def keep_file(path: str | Path, data: bytes) -> str:
    """Write a file and a `.gitignore` in this program's folder, never through a link; return why that is impossible."""
    target = Path(path)
    try:
        if target.parent.is_symlink():
            raise OSError(errno.ELOOP, f"{target.parent} is a link")
        for file, content in ((target.with_name(".gitignore"), b"*\n"), (target, data)):
            if file.is_symlink():
                file.unlink()
            replace_file(file, content)
    except OSError as error:
        reason = f"{NOT_KEPT}{path} cannot be written: {error.strerror or error}"
        return f"{reason}. Use --start, or -o in a folder that can be written.\n"
    return ""


def replace_file(path: str | Path, data: bytes) -> None:
    """Replace a file atomically, with its mode and links, or raise OSError; write devices directly."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("wb", dir=target.parent, delete=False) as file:
        try:
            file.write(data)
            file.flush()
            if target.exists():
                shutil.copymode(target, file.name)
            else:
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(file.name, 0o666 & ~mask)
            os.replace(file.name, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(file.name)
            raise
