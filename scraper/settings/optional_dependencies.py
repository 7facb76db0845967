"""How the libraries of an optional part get into the very Python that runs, which may not be the shell's."""

from __future__ import annotations

import importlib.util
import sys


def install_command(extra: str) -> str:
    """The command that installs what `extra` needs, in a checkout as well."""
    # An environment that uv made has no pip of its own.
    has_pip = importlib.util.find_spec("pip") is not None
    pip = f"{sys.executable} -m pip install" if has_pip else f"uv pip install --python {sys.executable}"
    return f"{pip} 'search-mcp[{extra}]'"
