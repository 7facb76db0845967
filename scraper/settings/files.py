"""Find the user's folders, the version and optional dependencies, and read text files that settings refer to."""

import importlib.util
import os
import shlex
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import platformdirs

_NAME = "search-mcp"


class SettingsError(ValueError):
    """A value cannot be used; the message names the variable or flag and an accepted value."""


class UnreadableFileError(Exception):
    """A file cannot be read; reason and next step continue "<variable>=<file> cannot be read: "."""


def read_text_file(file: Path) -> str:
    """Read a UTF-8 text file without its byte order mark, or raise UnreadableFileError."""
    try:
        # Some editors begin every file with a byte order mark.
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        reason = "the file does not exist. Correct the path, or create the file."
    except (IsADirectoryError, NotADirectoryError):
        reason = "the path is a folder, or contains a file as a folder. Name a file."
    except PermissionError:
        reason = f"the user with id {os.geteuid()} has no permission. Allow this user to read the file."
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text. Save it as UTF-8."
    except OSError as error:
        reason = f"{error.strerror or type(error).__name__}. Name a file that can be read."
    raise UnreadableFileError(reason)


def find_cache_folder() -> Path:
    """Return the cache folder of the user; a user without a home gets a private folder in the temporary folder."""
    try:
        folder = platformdirs.user_cache_path(_NAME, appauthor=False)
    except RuntimeError:
        return _temporary_folder()
    return folder if folder.is_absolute() else _temporary_folder()


def find_config_file() -> Path | None:
    """Return `config.toml` in the configuration folder of the user, or None if it does not exist."""
    try:
        file = platformdirs.user_config_path(_NAME, appauthor=False) / "config.toml"
        return file if file.is_absolute() and file.exists() else None
    except (RuntimeError, OSError):
        return None


def _temporary_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}"
    try:
        is_ours = folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
    except FileNotFoundError:
        return folder
    # Another user who created the folder first could read the files in it.
    return folder if is_ours else Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))


def version() -> str:
    """Return the installed version, or `0+source` if the package is not installed."""
    try:
        return metadata.version(_NAME)
    except metadata.PackageNotFoundError:
        return "0+source"


def is_installed(package: str) -> bool:
    """Return True if an optional package can be imported."""
    return importlib.util.find_spec(package) is not None


def install_command(extra: str) -> str:
    """Return the command that installs an extra into the running Python, also in a checkout."""
    # An environment created by uv has no pip.
    has_pip = is_installed("pip")
    python = shlex.quote(sys.executable)
    pip = f"{python} -m pip install" if has_pip else f"uv pip install --python {python}"
    return f"{pip} 'search-mcp[{extra}]'"
