"""Import LightGBM, or explain why it does not load: its wheel does not include the OpenMP runtime."""

from __future__ import annotations

try:
    import lightgbm
except OSError as error:
    raise ImportError(f"LightGBM does not load: {error}. On Debian: apt-get install -y libgomp1") from error

__all__ = ["lightgbm"]
