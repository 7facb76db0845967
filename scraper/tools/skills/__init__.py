"""Guides for coding agents: texts of the command `skill`, and one skill of the protocol's extension (SEP-2640)."""

import hashlib
from typing import Any

from scraper.values import text

GUIDES = {
    "core": "choose a command, read its answers, first steps on a page",
    "acting": "steps on pages, sessions, forms",
    "sites": "many pages: maps, crawls, lists",
    "data": "tables, products, fields, documents",
}
SKILL = "skill://search-mcp/"
"""Folder of the skill; its files are SKILL.md, which is the stub, and the guides."""
_FILES = {f"{SKILL}SKILL.md": "stub"} | {f"{SKILL}{guide}.md": guide for guide in GUIDES}


def read_guide(name: str) -> str:
    """Return a guide, or the text of the stub."""
    return text.read_file(__package__, f"{name}.md")


def read_file(uri: str) -> str | None:
    """Return a file of the skill by its address, or None."""
    return read_guide(_FILES[uri]) if uri in _FILES else None


def describe_skill() -> dict[str, Any]:
    """Return the entry of the skill: address, frontmatter as an object, and all files with digest and size."""
    contents = {uri: read_guide(name).encode() for uri, name in _FILES.items()}
    frontmatter = read_guide("stub").split("---\n")[1].splitlines()
    files = [
        {"uri": uri, "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}
        for uri, content in contents.items()
    ]
    return {
        "uri": next(iter(_FILES)),
        "frontmatter": dict(line.split(": ", 1) for line in frontmatter),
        "resources": files,
    }
