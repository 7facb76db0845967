"""What a job expects of a format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from scraper.bulk.model import OutputPosition, PageOutcome


class Output(Protocol):
    """Writes rows; used from one thread. What is behind the place that it was opened at is gone."""

    @property
    def wants_snapshots(self) -> bool:
        """Whether the responses themselves are written, not only what was read in them."""

    def append(self, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        """Write rows, and say how far the output is safe with them.

        Raises:
            OSError: the disk does not take them.
        """

    def turned(self) -> OutputPosition | None:
        """Begin a new file where the present one is large enough; None: not yet.

        To be called when the last place has been noted, and noted in its turn.
        """

    def tidied(self) -> None:
        """Remove what the noted place has made needless."""

    def finished(self) -> OutputPosition:
        """Make everything readable: the list is at its end."""

    def close(self) -> None:
        """Let go of the files as they are."""
