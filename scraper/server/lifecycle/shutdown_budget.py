"""How long clients may take for their last bytes, so that a process that is told to stop ends within 12 s."""

from __future__ import annotations

LAST_BYTES_S = 2.0
"""How long they may take to say and to take them when nothing else took time."""
_PATIENCE_S = 9.3
"""All of the usual drain, and a moment: what ends a call by force, browsers and connections take up to 2.1 s
more on a busy machine, and all together shall take no more than twelve."""
_LEAST_S = 0.3


def last_bytes_s(waited_s: float, most_s: float = LAST_BYTES_S) -> float:
    """How long they may take when the server has waited so long for its calls: who was silent all the while
    will hardly speak now."""
    return min(most_s, max(_LEAST_S, _PATIENCE_S - waited_s))
