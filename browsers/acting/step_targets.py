"""Find the line of an outline that the target of a step names by role and name."""

from __future__ import annotations

from collections.abc import Callable

from browsers.acting.aria_roles import ACTIVE, FIELDS
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


def find_target(outline: Outline, target: StepTarget) -> OutlineLine:
    """Return the line that matches a target by role and name, or by text.

    An exact name is preferred to a match that ignores case, and that to a part of a name; the value of a field counts
    only if no name matches. Controls are preferred to texts, and a single enabled control to disabled ones.

    Raises:
        StepTargetError: No line matches, or several match equally well.
    """
    lines = [piece for line in outline.lines for piece in (line.pieces or (line,))]
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
    for test in tests:
        for is_active in (True, False):
            # A landmark and the text in it may have one reference.
            found = list({line.ref: line for line in lines if line.is_active == is_active and test(line)}.values())
            if len(found) == 1:
                return found[0]
            if found:
                enabled = [line for line in found if "[disabled]" not in line.states]
                if len(enabled) == 1:
                    return enabled[0]
                raise StepTargetError(f"{len(found)} lines match {target}: {_name_lines(found)}")
    raise StepTargetError(f"nothing on the page matches {target}")


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
