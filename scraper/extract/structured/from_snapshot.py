"""What a page says of itself for machines, in all syntaxes; one that is broken never loses the others."""

from __future__ import annotations

from browsers.model import Snapshot
from scraper.model import StructuredData


def extract(snapshot: Snapshot) -> StructuredData:
    """Everything structured in a snapshot of HTML, and the facts of its product or recipe."""
    return _read(snapshot, simply=False)


def extract_simply(snapshot: Snapshot) -> StructuredData:
    """JSON-LD, OpenGraph and fetched JSON alone: for pages on which everything takes too long."""
    return _read(snapshot, simply=True)


def _read(snapshot: Snapshot, *, simply: bool) -> StructuredData:
    # extruct with rdflib takes .3 s to import: only in a worker that reads structured data.
    from scraper.extract.structured import extractor

    return extractor.read(snapshot, simply=simply)
