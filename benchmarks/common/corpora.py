"""Find corpora of saved pages: folders, or archives that are unpacked once into a cache outside the repo."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """Return the folder for unpacked corpora and environments of peers."""
    return user_cache_path("search-mcp-benchmarks")


def corpus_folder(corpora: Path, name: str) -> Path:
    """Return the folder of one corpus: `corpora/NAME/`, or `corpora/NAME.tar.xz` unpacked.

    Raises:
        FileNotFoundError: neither exists.
    """
    folder = corpora / name
    if folder.is_dir():
        return folder
    archive = corpora / f"{name}.tar.xz"
    if not archive.is_file():
        raise FileNotFoundError(f"Neither {folder}/ nor {archive} exists.")
    return _unpack(archive, name)


def _unpack(archive: Path, name: str) -> Path:
    # The folder name contains the size and time of the archive, so that a newer archive is unpacked again.
    stat = archive.stat()
    target = cache_folder() / "corpora" / f"{name}-{stat.st_size}-{int(stat.st_mtime)}"
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=target.parent))
        try:
            with tarfile.open(archive) as opened:
                opened.extractall(scratch, filter="data")
            scratch.rename(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target / name
