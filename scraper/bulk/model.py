"""The nouns of a job: what was asked for, a page to read, the row that comes of it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from browsers.model import Snapshot

STDIN = "-"
HOUR_S = 3_600.0
DEADLINE_S = 60.0
"""Of one page; it bounds what a page that never ends can cost."""


class Format(enum.StrEnum):
    """How the rows are written down."""

    PARQUET = "parquet"
    JSONL = "jsonl"
    WARC = "warc"


@dataclass(frozen=True, slots=True)
class CrawlRate:
    """How many pages at once, and how a host is to be asked."""

    concurrency: int | None = None
    """Pages under way in one process; None: as many as keep its cores busy."""
    per_host: int = 2
    """Pages of one host at once, never more; two are what a person with two tabs asks for."""
    gap_s: float = 0.0
    """Between two requests to one host."""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What was asked for."""

    source: str
    """A file of URLs, or `-`."""
    folder: Path
    """Where everything is kept and written; the same folder goes on with the same job."""
    format: Format
    pace: CrawlRate
    render: str = "auto"
    max_age_s: float | None = None
    """What is kept and younger is not read anew; None: as the settings say."""
    deadline_s: float = DEADLINE_S
    limit: int | None = None
    """Only the first so many of the list."""


@dataclass(frozen=True, slots=True)
class JobPage:
    """One line of the list."""

    number: int
    """Its place among the different lines, from 1."""
    url: str
    host: str
    problem: str = ""
    """Why the line names no page; such a line is a row all the same."""
    has_company: bool = field(default=False, compare=False)
    """Whether others of its host are read before it or after it."""


@dataclass(frozen=True, slots=True)
class PageFailure:
    """Why a page could not be read."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One page as it is written down. None means unknown; empty means known to be empty."""

    url: str
    final_url: str | None = None
    status: int | None = None
    method: str | None = None
    """`http`: as served. `browser`: rendered. `document`: by their readers."""
    fetched_at: datetime | None = None
    title: str | None = None
    markdown: str | None = None
    json_ld: tuple[Mapping[str, Any], ...] | None = None
    """None where the page came from the cache or from another server, which do not hand it on."""
    links: tuple[tuple[str, str], ...] | None = None
    """Address and text."""
    error: PageFailure | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds from the start of the visit to the end of each stage."""
    hash: str | None = None
    """SHA-256 of the Markdown in UTF-8, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """What reading a page came to."""

    page: JobPage
    row: OutputRow
    seconds: float
    """From the moment it was begun, waiting included."""
    cached: bool = False
    tries: int = 1
    """How often it was asked for; 0: its host was given up before."""
    snapshot: Snapshot | None = None
    """What Chromium saw, where it is to be written down."""

    @property
    def code(self) -> str:
        """`ok`, or what was wrong."""
        return "ok" if self.row.error is None else self.row.error.code


@dataclass(frozen=True, slots=True)
class OutputPosition:
    """How far the output is safe: everything before it is on the disk, what is behind it is not counted."""

    file: int = 1
    offset: int = 0


class IdSet:
    """Numbers from 0 that were added."""

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, number: int) -> None:
        """Take one in."""
        place = number >> 3
        if place >= len(self._bits):
            # Ahead, so that a list that is read in order does not grow byte by byte.
            self._bits.extend(bytes(place + 1024 - len(self._bits)))
        self._bits[place] |= 1 << (number & 7)

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self._bits) and bool(self._bits[place] & (1 << (number & 7)))
