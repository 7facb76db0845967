"""Find the line of an outline that the target of a step names by role and name."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from browsers.acting.aria_roles import ACTIVE, FIELDS
from browsers.acting.dom_snapshot import PageNode, iter_subtree
from browsers.acting.outline import Outline, OutlineLine
from browsers.acting.step_parser import StepTarget

_MAX_NAMED = 5
"""References listed in the error if a target is ambiguous."""

_VALUE = ' = "'
"""Start of the states of a field with a value."""

_SAME = (
    frozenset({"textbox", "searchbox", "combobox", "spinbutton", "password", "date", "time", "datetime", "color"}),
    frozenset({"combobox", "listbox"}),
    frozenset({"button", "clickable", "disclosure"}),
    frozenset({"checkbox", "switch"}),
    frozenset({"gridcell", "clickable", "button"}),
)
"""Groups of similar roles. If no line has the role of a target, roles of its groups match too."""


class StepTargetError(Exception):
    """No line, or more than one, matches a target. The message says which."""

    def __init__(self, message: str, refs: tuple[str, ...] = ()) -> None:
        """Store the message and the references that it names."""
        super().__init__(message)
        self.refs = refs


def find_target(outline: Outline, target: StepTarget) -> OutlineLine:
    """Return the line that matches a target by role and name, or by text.

    An exact name is preferred to a match that ignores case, and that to a part of a name; the value of a field counts
    only if no name matches. Controls are preferred to texts, and a single enabled control to disabled ones. A picture
    or heading in a link is that link, and links with one name and one target are one. Of several lines, `target.within`
    chooses the one that is next to a text. Raises StepTargetError if no line matches, or several match equally well.
    """
    lines = _pieces(outline)
    if target.role:
        lines = _with_role(lines, target.role)
    name, folded = target.name, target.name.lower()
    tests: tuple[Callable[[OutlineLine], bool], ...] = (
        lambda line: line.name == name,
        lambda line: line.name.lower() == folded,
        lambda line: folded in line.name.lower(),
        lambda line: folded == _value_of(line).lower(),
        lambda line: folded in _value_of(line).lower(),
    )
    front = [line for line in lines if not line.is_behind]
    for among in (front, lines) if len(front) < len(lines) else (lines,):
        for test, is_active in itertools.product(tests, (True, False)):
            found = _unify([line for line in among if line.is_active == is_active and test(line)], outline)
            if len(found) > 1 and target.within:
                found = _nearest(found, outline, target.within.lower())
            if len(found) == 1:
                return found[0]
            if found:
                enabled = [line for line in found if "[disabled]" not in line.states]
                if len(enabled) == 1:
                    return enabled[0]
                refs = tuple(line.ref for line in found[:_MAX_NAMED])
                raise StepTargetError(f"{len(found)} lines match {target}: {_name_lines(found)}", refs)
    raise StepTargetError(f"nothing on the page matches {target}")


def _unify(found: list[OutlineLine], outline: Outline) -> list[OutlineLine]:
    """Return lines without those that stand for another: in a link or button, or a link with the same target."""
    controls = {line.ref: line for line in outline.lines if line.is_active} if any(one.control for one in found) else {}
    unified: dict[tuple[str, str], OutlineLine] = {}
    for line in found:
        line = controls.get(line.control, line)
        is_address = line.goal not in ("", "#") and not line.goal.startswith("javascript:")
        # A landmark and the text in it may have one reference.
        unified.setdefault((line.frame_id, line.goal) if is_address else ("", line.ref), line)
    return list(unified.values())


def _nearest(found: list[OutlineLine], outline: Outline, words: str) -> list[OutlineLine]:
    """Return the lines that share the smallest part of the page with a line that has these words.

    If all share one part, as in a flat list, it is the first line after those words.
    """
    pieces = _pieces(outline)
    # By identity: a comparison of all fields for each pair would be slow on a page with many such lines.
    known = {id(line) for line in found}
    named = [line for line in pieces if words in line.name.lower() and id(line) not in known]
    refs = {line.ref for line in (*named, *found)}
    nodes = {node.ref: node for node in iter_subtree(outline.root) if node.ref in refs}
    around = {id(node) for line in named for node in _chain(nodes[line.ref])}
    depths = [sum(id(node) in around for node in _chain(nodes[line.ref])) for line in found]
    deepest = max(depths)
    nearest = {id(line): line for line, depth in zip(found, depths, strict=True) if depth == deepest > 0}
    if len(nearest) < 2:
        return list(nearest.values())
    first = next(at for at, line in enumerate(pieces) if line is named[0])
    return [line for line in pieces[first:] if id(line) in nearest][:1] or list(nearest.values())


def _pieces(outline: Outline) -> list[OutlineLine]:
    return [piece for line in outline.lines for piece in line.pieces or (line,)]


def _chain(node: PageNode) -> list[PageNode]:
    """Return a node and its ancestors."""
    chain = [node]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return chain


def find_same_control(outline: Outline, line: OutlineLine) -> OutlineLine | None:
    """Return the only control with the same role and name as a line, or None."""
    same = [one for one in outline.lines if one.is_active and (one.role, one.name) == (line.role, line.name)]
    return same[0] if len(same) == 1 else None


def _with_role(lines: list[OutlineLine], role: str) -> list[OutlineLine]:
    exact = [line for line in lines if line.role == role]
    if exact or role not in ACTIVE:
        return exact
    roles = frozenset[str]().union(*(group for group in _SAME if role in group))
    return [line for line in lines if line.role in roles]


def _value_of(line: OutlineLine) -> str:
    """Return the value of a field as its line shows it, or an empty text."""
    if line.role not in FIELDS or not line.states.startswith(_VALUE):
        return ""
    return line.states[len(_VALUE) :].partition('"')[0]


def _name_lines(lines: list[OutlineLine]) -> str:
    named = ", ".join(line.ref for line in lines[:_MAX_NAMED])
    return named + (f" and {len(lines) - _MAX_NAMED} more" if len(lines) > _MAX_NAMED else "")
