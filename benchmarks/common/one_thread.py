"""Numpy without threads of its own, as in our workers: they wait for each other, and their sums differ."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")


def in_one_thread(module: str, more: Mapping[str, str] | None = None) -> None:
    """Start a module anew with these settings, unless they hold: numpy reads them when it is loaded."""
    settings = {**_ONE, **(more or {})}
    if not settings.items() <= os.environ.items():
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], os.environ | settings)
