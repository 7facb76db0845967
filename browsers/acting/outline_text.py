"""Write outlines within a character limit, search them by words, and compare two of them."""

import itertools
from collections import Counter

from browsers.acting.dom_snapshot import iter_subtree
from browsers.acting.outline import Outline, OutlineLine, cell_mark
from browsers.text_quoting import clean_text, join_first, quote, truncate

OUTLINE_CHARS = 6_000
"""Characters of an outline: about 1,500 tokens."""
_MAX_RUN = 30
"""Consecutive controls of one role. Of longer runs, only the first `_MAX_LINES_OF_RUN` lines are written."""
_MAX_LINES_OF_RUN = 20
_MAX_CHANGES = 40
"""Lines of a comparison; further changes are only counted."""
_MAX_INDENT = 6
_MAX_TITLE = 80
_MAX_URL = 200
_MAX_PIECE = 200
_MAX_REMOVED_CHARS = 50
_MAX_REMOVED = 3
_WHOLE_FROM = 12
"""Lines. Outlines with more lines are not compared if more than `_WHOLE_SHARE` of them changed."""
_WHOLE_SHARE = 0.6
_MAX_ORDERED = 20
_NEAR_PX = 50

_Keyed = dict[tuple[str, str, int], OutlineLine]


def write_outline(outline: Outline, *, words: str = "", budget: int = OUTLINE_CHARS, refs: tuple[str, ...] = ()) -> str:
    """Return the heading and the most important lines within a number of characters.

    Lines are chosen in this order, and written in document order: controls in the window; headings, landmarks and other
    roles; other controls; texts in the window; other texts. Those of `main` come first. Lines behind a modal dialog are
    counted only. With `words`, only lines that contain all of them are written. The lines of `refs` always are.
    """
    lines = [line for line in outline.lines if words or not line.is_behind]
    behind = len(outline.lines) - len(lines)
    if words := clean_text(words).lower():
        texts = (f"{line.text} {line.name}".lower() for line in lines)
        lines = [line for line, text in zip(lines, texts, strict=True) if all(word in text for word in words.split())]
    head = write_heading(outline)
    if not lines:
        return f"{head}\n(no line has these words)" if words else f"{head}\n(nothing visible)"
    entries = [(line, _indented(line)) for line in lines] if words else _shorten_runs(lines)
    order = sorted(range(len(entries)), key=lambda at: (_rank(outline, entries[at][0], refs), at))
    sizes = itertools.accumulate(len(entries[at][1]) + 1 for at in order)
    chosen = {at for at, size in zip(order, sizes, strict=True) if size <= budget - len(head) - 70}
    out = [head, *(entry[1] for at, entry in enumerate(entries) if at in chosen)]
    hidden = len(entries) - len(chosen)
    if hidden:
        out.append(f"… {hidden} more lines: scroll, or look with words of them")
    if behind:
        out.append(f"… {behind} lines behind the dialog or in inert parts: close it, or look with words of them")
    return "\n".join(out)


def write_heading(outline: Outline) -> str:
    """Return a line with title, URL and scroll position."""
    facts = outline.facts
    title = quote(truncate(clean_text(facts.title), _MAX_TITLE))
    url = truncate(clean_text(facts.url).replace(" ", "%20"), _MAX_URL)
    bottom = min(facts.height, facts.top + outline.window[1])
    return f"page {title} {url} · {round(facts.top)} to {round(bottom)} of {round(facts.height)} px"


def compare_outlines(before: Outline, after: Outline) -> str | None:
    """Return the added (+), changed (~) and removed (-) lines, or None if most of the page changed.

    The text is empty if nothing changed. A script may change the URL without a new document.
    """
    old, new = _keyed(before), _keyed(after)
    changes = [f"~ {write_heading(after)}"] if before.facts.url != after.facts.url else []
    added: list[OutlineLine] = []
    for key, line in new.items():
        if key not in old and line.role == "text":
            if added and (added[-1].cell or line.cell) and not cell_mark(added[-1], line):
                _flush(added, changes)
            added.append(line)
        elif key not in old:
            _flush(added, changes)
            changes.append(f"+ {line.text}")
        elif old[key].text != line.text or old[key].name != line.name:
            _flush(added, changes)
            text = quote(_changed_part(old[key].name, line.name)) if line.role == "text" else line.text
            changes.append(f"~ {text}")
    _flush(added, changes)
    changes += _describe_order(old, new, is_rest_equal=not changes and len(old) == len(new))
    removed = [truncate(line.text, _MAX_REMOVED_CHARS) for key, line in old.items() if key not in new]
    if len(new) > _WHOLE_FROM and len(changes) + len(removed) > _WHOLE_SHARE * len(new):
        return None
    if len(changes) > _MAX_CHANGES:
        changes = [*changes[:_MAX_CHANGES], f"… {len(changes) - _MAX_CHANGES} more changes: look"]
    if removed:
        changes.append(f"- {join_first(removed, _MAX_REMOVED)}")
    return "\n".join(changes)


def describe_look(before: Outline | None, after: Outline | None) -> str:
    """Return the heading if the title changed, or a line that names what changed its attributes; else an empty text."""
    if before is None or after is None or before.facts.title != after.facts.title:
        return f"~ {write_heading(after)}" if before is not None and after is not None else ""
    looks = {node.ref: node.attributes for node in iter_subtree(before.root)}
    nodes = [node for node in iter_subtree(after.root) if node.is_visible]
    changed = {node.ref for node in nodes if looks.get(node.ref, node.attributes) != node.attributes}
    if not changed:
        return ""
    names = [quote(truncate(one.name, _MAX_REMOVED_CHARS)) for one in after.pieces if one.name and one.ref in changed]
    return f"only the look changed{' of ' if names else ''}{join_first(names, _MAX_REMOVED)}: see shows it"


def _describe_order(old: _Keyed, new: _Keyed, *, is_rest_equal: bool) -> list[str]:
    """Return a line with the lines whose order in the document differs; on the screen, if nothing else changed."""
    orders = [[key for key in one if key in other] for one, other in ((old, new), (new, old))]
    if is_rest_equal and orders[0] == orders[1]:
        orders = [
            sorted(keys, key=lambda key: _place(lines[key])) for keys, lines in zip(orders, (old, new), strict=True)
        ]
    first, second = orders
    if first == second:
        return []
    start = next(at for at, key in enumerate(first) if key != second[at])
    end = next(at for at in range(len(first)) if first[-1 - at] != second[-1 - at])
    moved = [new[key] for key in second[start : len(second) - end]]
    names = list(dict.fromkeys(quote(truncate(line.name, _MAX_REMOVED_CHARS)) for line in moved if line.name))
    return [f"~ new order: {join_first(names, _MAX_ORDERED)}"] if names else []


def _place(line: OutlineLine) -> tuple[float, float]:
    return (line.box[1], line.box[0]) if line.box is not None else (0.0, 0.0)


def _flush(added: list[OutlineLine], changes: list[str]) -> None:
    if added:
        words = [added[0].name, *(f"{cell_mark(one, line)} {line.name}" for one, line in itertools.pairwise(added))]
        changes.append(f"+ {quote(truncate(''.join(words), _MAX_PIECE))}")
        added.clear()


def _keyed(outline: Outline) -> _Keyed:
    """Map lines to keys of reference, role and number. Adjacent texts that share a line have a key each."""
    counts: Counter[tuple[str, str]] = Counter()
    keyed = {}
    for piece in outline.pieces:
        key = (piece.ref, piece.role)
        keyed[(*key, counts[key])] = piece
        counts[key] += 1
    return keyed


def _changed_part(before: str, after: str) -> str:
    """Return the part of a text that changed, with 15 characters on each side."""
    most = min(len(before), len(after))
    start = next((at for at in range(most) if before[at] != after[at]), most)
    end = next((at for at in range(most - start) if before[-1 - at] != after[-1 - at]), most - start)
    first, last = max(0, start - 15), len(after) - max(0, end - 15)
    return ("…" if first else "") + truncate(after[first:last], _MAX_PIECE) + ("…" if last < len(after) else "")


def _indented(line: OutlineLine) -> str:
    return " " * min(line.depth, _MAX_INDENT) + line.text


def _shorten_runs(lines: list[OutlineLine]) -> list[tuple[OutlineLine, str]]:
    """Return the lines with their texts; in place of the end of a long run of one role, a note with its length."""
    out: list[tuple[OutlineLine, str]] = []
    for (is_active, role, depth), same in itertools.groupby(lines, lambda one: (one.is_active, one.role, one.depth)):
        run = list(same)
        is_long = is_active and len(run) > _MAX_RUN
        out += [(line, _indented(line)) for line in (run[:_MAX_LINES_OF_RUN] if is_long else run)]
        if is_long:
            note = f"… {len(run) - _MAX_LINES_OF_RUN} more of {role}: look with words of them"
            out.append((run[_MAX_LINES_OF_RUN], " " * min(depth, _MAX_INDENT) + note))
    return out


def _rank(outline: Outline, line: OutlineLine, refs: tuple[str, ...]) -> int:
    if line.ref in refs:
        return -1
    top = outline.facts.top
    is_near = line.box is not None and top - _NEAR_PX <= line.box[1] <= top + outline.window[1]
    rank = (0 if is_near else 4) if line.is_active else 1 if line.role != "text" else 2 if is_near else 5
    return rank + 3 * (outline.has_main and not line.is_main)
