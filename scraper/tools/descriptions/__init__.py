"""What callers are told about each tool, one text a tool."""

from importlib import resources

__all__ = ["described"]


def described(tool: str) -> str:
    """The description of a tool."""
    return resources.files(__name__).joinpath(f"{tool}.md").read_text(encoding="utf-8").strip()
