"""Install commands for optional dependencies."""

from __future__ import annotations

import importlib.util
import shlex
import sys


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
