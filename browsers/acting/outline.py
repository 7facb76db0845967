"""Build the outline of a page: one line for each control, heading, landmark and visible text.

The reference of a line contains the node id of Chromium. It stays valid while the node exists, so two outlines can be
compared line by line.
"""

import functools
import itertools
from collections import Counter
from dataclasses import dataclass, field, replace

from browsers.acting import roles_and_names
from browsers.acting.dom_snapshot import Box, PageFacts, PageNode, ProcessSnapshot, iter_subtree, parse_snapshots
from browsers.acting.roles_and_names import ACTIVE, HEADINGS, LANDMARKS, OTHER_ROLES, AccessibleNameComputer
from browsers.acting.visibility import mark_regions, mark_visible
from browsers.cdp.transports import paused_collector
from browsers.text_quoting import clean_text, quote, truncate

_MAX_NAME = 80
"""Characters of the name of a control, heading or landmark."""
_MAX_TEXT = 120
"""Characters of a line of text. Adjacent texts share a line."""
_MAX_ROW = 240
"""Characters of the texts of a row of a table."""
_MAX_OPTIONS = 8
MIN_SECRET = 6
"""Characters of the value of a password field from which it is recognized elsewhere. Shorter ones may be words."""
_MAX_OPTION = 24
_MAX_VALUE = 60
_STATES = ("checked", "expanded", "selected", "pressed", "disabled", "current", "invalid", "required", "readonly")
_NATIVE_STATES = frozenset({"disabled", "required", "readonly"})
_STATE_ATTRIBUTES = _NATIVE_STATES.union(f"aria-{state}" for state in _STATES)
_WRITTEN_ROLES = frozenset((*LANDMARKS, *HEADINGS, *OTHER_ROLES))
DRAWN_BY_LABEL = frozenset({"checkbox", "radio", "file"})
"""Types and roles of inputs that pages hide, to draw them by their labels."""
_FIELD_TAGS = frozenset({"input", "select", "textarea"})
_NEVER_ACTIVE = frozenset({"html", "body", "label", "#other", "#text"})
"""Tags that are not controls. A label passes clicks to its control."""
_ITEMS = frozenset({"li", "tr", "td"})
_ELLIPSES = ("…", "...", "⋯")
_MAX_LOADING = 30
"""Characters of a text about loading, such as "Loading…"."""
_MIN_CHARS = 200
"""Characters of a page without controls. One with less is bare."""
_MIN_SIMILAR = 3
"""Similar children from which an element with one listener is a list, not a button."""
_MIN_FIELD_PX = 10.0
"""CSS pixels. A transparent field that is larger lies over what a page draws in its place."""
_MAX_LIST_NODES = 300


@dataclass(slots=True)
class OutlineLine:
    """One line of an outline."""

    ref: str
    """Reference by which a step names the element, such as `e12`; `f1e12` in a frame of another process."""
    depth: int
    role: str
    name: str
    states: str = ""
    is_active: bool = False
    """True if the line is a control, which steps may refer to."""
    box: Box | None = None
    pieces: "list[OutlineLine]" = field(default_factory=list)
    """Lines of the single texts that were joined to this line; empty for other roles."""
    frame_id: str = ""
    goal: str = ""
    """Target of a link: links with one name and one target are one."""
    control: str = ""
    """Reference of the control that contains this line, if any."""
    drawn_by: int = 0
    """Node id of the label of a hidden input, which is clicked in its place."""
    is_behind: bool = False
    """True for a line that cannot be used: behind a modal dialog, or in an inert part."""
    is_main: bool = False
    cell: tuple[int, int] | None = None
    """Row id and number of the cell of a table that contains the line."""
    since: float = 0.0
    """Time of the first outline with this line in this place, by `time.monotonic`."""

    @property
    def text(self) -> str:
        """Line without indentation. Text of the page is in quotes, except state values of up to 12 letters."""
        if self.role == "text":
            return quote(truncate(self.name, _MAX_ROW if self.cell else _MAX_TEXT))
        name = f" {quote(self.name)}" if self.name else ""
        return f"{self.ref + ' ' if self.is_active else ''}{self.role}{name}{self.states}"


@dataclass(frozen=True)
class Outline:
    """The lines of a page in document order."""

    facts: PageFacts
    lines: list[OutlineLine]
    root: PageNode
    window: tuple[int, int]
    """Width and height in CSS pixels."""
    secrets: frozenset[str]
    """References of fields whose values are not shown."""
    secret_values: frozenset[str]
    """Values of these fields with at least `MIN_SECRET` characters, of earlier outlines too."""

    @functools.cached_property
    def pieces(self) -> list[OutlineLine]:
        """The lines, and in place of joined texts each of them."""
        return [piece for line in self.lines for piece in line.pieces or (line,)]

    @functools.cached_property
    def has_main(self) -> bool:
        """True if lines are in the main part."""
        return any(line.is_main for line in self.lines)

    @property
    def loading_texts(self) -> set[str]:
        """Short texts that end with an ellipsis, and bars of progress: the page will probably replace them."""
        return {
            piece.name or piece.role
            for piece in self.pieces
            if (not piece.is_active and piece.role == "progressbar")
            or (not piece.is_active and 3 < len(piece.name) <= _MAX_LOADING and piece.name.endswith(_ELLIPSES))
        }

    @property
    def is_bare(self) -> bool:
        """True without any control and with hardly any text: the page is empty, or shows a splash screen."""
        has_controls = any(line.is_active for line in self.lines)
        return not has_controls and sum(len(line.name) for line in self.lines) < _MIN_CHARS


def build_outline(
    snapshots: list[ProcessSnapshot],
    window: tuple[int, int],
    secrets: frozenset[str] = frozenset(),
    secret_values: frozenset[str] = frozenset(),
) -> Outline:
    """Return the outline of a page from the snapshots of its processes, the main frame's first.

    `secrets` lists references of fields whose values are never shown, even if they are no longer password fields.
    Neither is a field shown that has one of `secret_values`: a page may show a password in another field.
    """
    with paused_collector():
        root, facts = parse_snapshots(snapshots)
        nodes = list(iter_subtree(root))
        _place_areas(nodes)
        mark_visible(nodes, window)
        fields = [node for node in nodes if node.tag in _FIELD_TAGS]
        secrets |= {node.ref for node in fields if roles_and_names.is_secret(node)}
        values = {node.value for node in fields if node.ref in secrets and node.tag != "select"}
        secret_values |= {value for value in values if value is not None and len(value) >= MIN_SECRET}
        secrets |= {node.ref for node in fields if node.value in secret_values}
        writer = _LineWriter(nodes, window, secrets, facts)
        return Outline(facts, _merge_texts(writer.lines), root, window, secrets, secret_values)


class _LineWriter:
    def __init__(
        self, nodes: list[PageNode], window: tuple[int, int], secrets: frozenset[str], facts: PageFacts
    ) -> None:
        self.lines: list[OutlineLine] = []
        self._half_window = 0.5 * window[0] * window[1]
        self._secrets = secrets
        self._namer = AccessibleNameComputer(nodes)
        for node in reversed(nodes):
            if node.tag[0] != "#":
                node.role = roles_and_names.role_of(node)
            if node.parent is not None and (node.has_controls or node.listens or node.role in ACTIVE):
                node.parent.has_controls = True
        mark_regions(nodes, facts, window)
        self._free_labels: set[PageNode] = set()
        """Labels that name no line, so that they are texts."""
        for key, labels in self._namer.labels.items():
            named = self._namer.by_id.get(key)
            if named is None:
                self._free_labels.update(labels)
            elif not self._is_active(named, named.role, is_inside=False):
                self._name_stand_in(named, labels)
        self._write(nodes[0])

    def _name_stand_in(self, field: PageNode, labels: list[PageNode]) -> None:
        """Give the labels of a hidden field to the control that the page draws around it, or just behind it."""
        above = set(labels[0].ancestors())
        around = list(itertools.takewhile(lambda one: one not in above, field.ancestors()))
        behind = itertools.dropwhile(lambda one: one is not field, next(field.ancestors()).children)
        sibling = next((one for one in itertools.islice(behind, 1, None) if one.tag[0] != "#"), field)
        nodes = (*around, *itertools.islice(iter_subtree(sibling), _MAX_LIST_NODES))
        found = [one for one in nodes if one.tag[0] != "#" and self._is_active(one, one.role, is_inside=False)]
        if found and all(one in around or found[0] in (one, *one.ancestors()) for one in found):
            self._namer.stand_ins[found[0]] = field
        else:
            self._free_labels.update(labels)

    def _write(self, root: PageNode) -> None:
        stack = [(root, 0, False, "")]
        while stack:
            node, depth, is_inside, control = stack.pop()
            if node.tag == "#text":
                if node.is_visible:
                    self._write_text(node, depth)
                continue
            if node.tag in roles_and_names.INVISIBLE_TAGS or self._names_a_line(node):
                continue
            if node.tag != "#other":
                role = node.role
                if self._is_active(node, role, is_inside):
                    control = self._write_control(node, role, depth, control)
                    depth += 1
                    # Inside a control all is the control. Inside a box with a listener, others may listen. A list of
                    # options that is no `select` may have items without a role.
                    is_inside = role != "listbox" and (role in ACTIVE or not self._is_group(node, role))
                    if node.tag == "select":
                        continue
                elif node.is_visible and role in _WRITTEN_ROLES:
                    if self._write_landmark(node, role, depth, control):
                        depth += 1
                        is_inside = is_inside or role in HEADINGS
                elif node.tag == "label" and node.has_controls:
                    # The line of its control has its text.
                    is_inside = True
            # Not a generator, which would cost more than most nodes.
            below = [
                (child, depth, is_inside, control) for child in node.children if not is_inside or child.tag != "#text"
            ]
            stack += below[::-1]

    def _names_a_line(self, node: PageNode) -> bool:
        """Return True for a label, legend or caption without controls: the line of its field or group has its text."""
        is_label = node.tag in ("legend", "caption") or (node.tag == "label" and bool(node.attributes.get("for")))
        return is_label and not node.has_controls and node not in self._free_labels

    def _write_landmark(self, node: PageNode, role: str, depth: int, control: str) -> bool:
        name = "" if role in ("alert", "status") else truncate(self._namer.name_of(node, role), _MAX_NAME)
        if name or role != "img":
            self._add(node, OutlineLine(node.ref, depth, role, name, control=control))
        return bool(name) or role != "img"

    def _write_text(self, node: PageNode, depth: int) -> None:
        if text := clean_text(node.text):
            element = next((one for one in node.ancestors() if one.tag != "#other"), node)
            self._add(node, OutlineLine(element.ref, depth, "text", text))

    def _write_control(self, node: PageNode, role: str, depth: int, around: str) -> str:
        """Write the line of a control in `around`; return its reference if all inside is this control, or nothing."""
        control = node.ref if role in ACTIVE else ""
        if role in ACTIVE:
            name = self._namer.name_of(node, role)
        else:
            role = role or ("draggable" if node.attributes.get("draggable") == "true" else "clickable")
            label = clean_text(node.attributes.get("aria-label", "")) or self._namer.label_for(node)
            holds_items = node.has_controls or _is_list(node)
            name = label if holds_items else self._namer.name_of(node, node.role)
        states = self._states(node, role)
        if node.is_clipped:
            states += " [offscreen in a scroller]"
        name = truncate(name, _MAX_NAME)
        goal = node.attributes.get("href", "") if role == "link" else ""
        self._add(node, OutlineLine(node.ref, depth, role, name, states, True, goal=goal, control=around))
        return control

    def _add(self, node: PageNode, line: OutlineLine) -> None:
        line.box, line.frame_id, line.drawn_by = node.box, node.frame_id, node.drawn_by
        line.is_behind, line.is_main, line.cell = node.is_behind, node.is_main, node.cell
        self.lines.append(line)

    def _is_active(self, node: PageNode, role: str, is_inside: bool) -> bool:
        attributes = node.attributes
        if not node.is_visible:
            return self._is_drawn(node)
        if role in ACTIVE:
            return attributes.get("type") != "hidden" and not (is_inside and node.tag == "option")
        if node.tag in _NEVER_ACTIVE:
            return False
        if attributes:
            index = attributes.get("tabindex", "")
            if index.isdecimal() or "onclick" in attributes or attributes.get("draggable") == "true":
                return True
        if is_inside:
            return False
        if node.listens:
            # One listener at the top of an application is not a button.
            box = node.box or (0.0, 0.0, 0.0, 0.0)
            return box[2] * box[3] < self._half_window
        if node.style is None or node.style.cursor != "pointer" or node.has_controls:
            return False
        above = node.parent
        return above is None or above.style is None or above.style.cursor != "pointer"

    def _is_group(self, node: PageNode, role: str) -> bool:
        """Return True if a control has others inside, or items that may be some, or text that is no name."""
        if node.has_controls or role in ACTIVE:
            return node.has_controls
        return role in LANDMARKS or _is_list(node) or len(self._namer.words_in(node)) > _MAX_NAME

    def _is_drawn(self, node: PageNode) -> bool:
        """Return True for a field that is transparent over its drawing, or a hidden choice that its label draws."""
        attributes, label = node.attributes, self._namer.visible_label(node)
        is_hidden = node.style is None or attributes.get("aria-hidden") == "true"
        if node.tag == "input" and attributes.get("type", "").lower() in DRAWN_BY_LABEL:
            if label is not None:
                node.box, node.drawn_by = label.box, label.id
            return label is not None or not is_hidden
        if node.tag not in _FIELD_TAGS or node.role == "button" or is_hidden or node.style is None:
            return False
        left, top, width, height = node.box or (0.0, 0.0, 0.0, 0.0)
        is_placed = (
            min(width, height) >= (1 if label and node.tag == "input" else _MIN_FIELD_PX) and min(left, top) >= 0
        )
        is_usable = node.style.visibility == "visible" and attributes.get("tabindex") != "-1"
        return is_placed and is_usable and next(node.ancestors()).is_visible

    def _states(self, node: PageNode, role: str) -> str:
        attributes = node.attributes
        if node.ref in self._secrets:
            return ' = "(filled)"' if node.value or attributes.get("value") else ""
        out = [self._selected(node) if node.tag == "select" else self._value(node, role)]
        if node.checked and role in ("checkbox", "radio", "switch"):
            out.append(" [checked]")
        # Most controls have none of them.
        if not _STATE_ATTRIBUTES.isdisjoint(attributes):
            out += [_declared_state(node, state) for state in _STATES]
        if node.tag == "summary" and node.parent is not None and node.parent.tag == "details":
            out.append(" [expanded]" if "open" in node.parent.attributes else " [collapsed]")
        return "".join(out)

    def _value(self, node: PageNode, role: str) -> str:
        if role not in roles_and_names.FIELDS:
            return ""
        value = node.value if node.value is not None else node.attributes.get("aria-valuenow", "")
        if not value and node.tag not in ("input", "textarea"):
            value = self._namer.words_in(node)
        return f" = {quote(truncate(clean_text(value), _MAX_VALUE))}" if value else ""

    def _selected(self, node: PageNode) -> str:
        options = [one for one in iter_subtree(node) if one.tag == "option"]
        names = []
        for one in options:
            text = clean_text(one.attributes.get("label", "")) or self._namer.words_in(one, visible_only=False)
            names.append(quote(truncate(text, _MAX_OPTION)))
        chosen = [name for name, one in zip(names, options, strict=True) if one.selected]
        selected = ", ".join(chosen[:_MAX_OPTIONS]) or "nothing"
        listed = "|".join(names[:_MAX_OPTIONS])
        more = f"|… {len(names)} in all" if len(names) > _MAX_OPTIONS else ""
        return f" = {selected} of {listed}{more}"


def _is_list(node: PageNode) -> bool:
    """Return True if one listener serves several items: rows, entries, or children that are built alike."""
    for number, one in enumerate(iter_subtree(node)):
        if number > _MAX_LIST_NODES:
            break
        visible = [child for child in one.children if child.is_visible and child.tag[0] != "#" and child.tag != "p"]
        kinds = Counter((child.tag, child.attributes.get("class", "")) for child in visible)
        for (tag, _), count in kinds.items():
            if count >= (2 if tag in _ITEMS else _MIN_SIMILAR) and any(child.children for child in visible):
                return True
    return False


def _shares_line(last: OutlineLine, line: OutlineLine) -> bool:
    if last.is_behind != line.is_behind:
        return False
    if last.cell and line.cell:
        return last.cell[0] == line.cell[0] and len(last.name) < _MAX_ROW
    return not (last.cell or line.cell) and len(last.name) < _MAX_TEXT // 2


def cell_mark(one: OutlineLine, other: OutlineLine) -> str:
    """Return the marks between two texts of one row: one for each cell that begins; else an empty text."""
    is_row = one.cell and other.cell and one.cell[0] == other.cell[0]
    return " |" * (other.cell[1] - one.cell[1]) if is_row and one.cell and other.cell else ""


def _merge_texts(lines: list[OutlineLine]) -> list[OutlineLine]:
    merged: list[OutlineLine] = []
    for line in lines:
        last = merged[-1] if merged else None
        if line.role != "text":
            merged.append(line)
        elif last is not None and last.role == "text" and _shares_line(last, line):
            last.name = f"{last.name}{cell_mark(last.pieces[-1], line)} {line.name}"
            last.pieces.append(line)
        else:
            merged.append(replace(line, pieces=[line]))
    result: list[OutlineLine] = []
    for at, line in enumerate(merged):
        is_last = at + 1 == len(merged) or merged[at + 1].depth <= line.depth
        if not (line.role in LANDMARKS and not line.is_active and not line.name and is_last):
            result.append(line)
    return result


def _place_areas(nodes: list[PageNode]) -> None:
    """Set box and style of each area to those of the first image that uses its map: Chromium lays out no `area`."""
    images: dict[tuple[str, str], PageNode] = {}
    for node in nodes:
        if node.tag != "img" or node.box is None:
            continue
        if used := node.attributes.get("usemap", "").partition("#")[2]:
            images.setdefault((node.frame_id, used), node)
    if not images:
        return
    for node in nodes:
        if node.tag != "area" or node.box is not None:
            continue
        around = next((one for one in node.ancestors() if one.tag == "map"), node)
        name = around.attributes.get("name") or around.attributes.get("id", "")
        if around is not node and (image := images.get((node.frame_id, name))) is not None:
            node.box, node.style = image.box, image.style


def _declared_state(node: PageNode, state: str) -> str:
    """Return a state that the attributes of a node declare, as ` [state]`, or an empty text."""
    declared = node.attributes.get(f"aria-{state}")
    if declared is None and state in _NATIVE_STATES:
        declared = node.attributes.get(state)
    if declared is None or (state == "checked" and node.checked):
        return ""
    if declared == "false":
        return " [collapsed]" if state == "expanded" else ""
    if declared in ("", "true", state):
        return f" [{state}]"
    return f" [{state}={declared[:12]}]" if declared.isalpha() and declared != "undefined" else ""
