"""Run numpy in one thread, as our workers do: its threads wait for each other, and their sums differ."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")


def restart_single_threaded(module: str, extra: Mapping[str, str] | None = None) -> None:
    """Restart a module with these environment variables unless they are set: numpy reads them on import."""
    settings = {**_ONE, **(extra or {})}
    if not settings.items() <= os.environ.items():
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], os.environ | settings)
