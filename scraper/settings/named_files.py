"""Files that settings name: what is wrong with one is told so that whoever named it can mend it."""

from __future__ import annotations

import os
from pathlib import Path


class UnreadableFileError(Exception):
    """Why a file cannot be read, and what to do: what stands behind "<variable>=<file> cannot be read: "."""


def text_in(file: Path) -> str:
    """The text of a file.

    Raises:
        UnreadableFile: it is not there, not for this user, or no text.
    """
    try:
        # Editors of one system begin every file with a mark, which is no part of the text.
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        reason = "there is no such file. Correct the path, or make the file."
    except (IsADirectoryError, NotADirectoryError):
        reason = "the path leads to a folder, or through a file. Name a file."
    except PermissionError:
        reason = f"the user that this runs as (number {os.geteuid()}) may not. Let it read the file."
    except UnicodeDecodeError:
        reason = "it is no text in UTF-8. Save it as that."
    except OSError as error:
        reason = f"{error.strerror or type(error).__name__}. Name a file that can be read."
    raise UnreadableFileError(reason)
