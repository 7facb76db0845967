"""Saved pages on this machine: folders as they are, archives unpacked once into a cache outside the repo."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """Where benchmarks keep what they set up: corpora, peers."""
    return user_cache_path("search-mcp-benchmarks")


def fold_weights(fold: int) -> Path:
    """Where the weights of the reader's model that has not seen a fold are kept."""
    return cache_folder() / "reader-folds" / f"{fold}.npz"


def corpus_folder(corpora: Path, name: str) -> Path:
    """Return the folder of one corpus: `corpora/NAME/`, or `corpora/NAME.tar.xz` unpacked.

    Raises:
        FileNotFoundError: neither is there.
    """
    folder = corpora / name
    if folder.is_dir():
        return folder
    archive = corpora / f"{name}.tar.xz"
    if not archive.is_file():
        raise FileNotFoundError(f"There is neither {folder}/ nor {archive}.")
    return _unpacked(archive, name)


def _unpacked(archive: Path, name: str) -> Path:
    # The size and time of the archive are in the folder's name: a newer archive is unpacked anew.
    facts = archive.stat()
    target = cache_folder() / "corpora" / f"{name}-{facts.st_size}-{int(facts.st_mtime)}"
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
