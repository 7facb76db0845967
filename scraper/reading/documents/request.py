"""What is wanted of a document; apart from its reader, so that a tool can be listed without loading that."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """What is to be read, by whom."""

    source: str
    password: str | None = None
    pages: tuple[int, ...] = ()
    """Pages beyond what is read at once; empty reads from the first on."""
    principal: str = "local"
