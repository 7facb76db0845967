"""Pages as people name them: `3`, `3-5`, `1,4-6,10-`."""

from __future__ import annotations

import re

from scraper.errors import InvalidArgumentError

MOST = 1_000
"""Pages in one selection."""
LAST = 100_000
_PART = re.compile(r"(\d{1,6})\s*(?:(-|–|\.\.|:|to)\s*(\d{1,6})?)?")


def page_numbers(text: str | None) -> tuple[int, ...]:
    """The pages of a selection, each once, in order; none where nothing is selected.

    Raises:
        BadArgument: it is no selection of pages.
    """
    if text is None:
        return ()
    chosen: set[int] = set()
    for part in filter(None, (piece.strip() for piece in re.split(r"[,;]", text))):
        match = _PART.fullmatch(part)
        first, last = _ends(match, MOST - len(chosen)) if match else (0, 0)
        if not 1 <= first <= last <= LAST:
            raise InvalidArgumentError(
                f'pages must be numbers and ranges from 1 on, such as "3-5,9", not "{text[:60]}".',
                target="pages",
            )
        if len(chosen) + last - first + 1 > MOST:
            raise InvalidArgumentError(f"pages must name at most {MOST:,} pages.", target="pages")
        chosen.update(range(first, last + 1))
    if not chosen:
        raise InvalidArgumentError('pages must name pages, such as "3-5,9".', target="pages")
    return tuple(sorted(chosen))


def _ends(part: re.Match[str], room: int) -> tuple[int, int]:
    """First and last page of a range; one without an end goes as far as a selection may."""
    first = int(part[1])
    open_end = min(LAST, first + max(room, 1) - 1) if part[2] else first
    return first, int(part[3]) if part[3] else open_end
