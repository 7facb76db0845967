"""Parse steps such as `click button "Next"`, and find the lines that their targets name."""

import difflib
import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from browsers.acting.dom_snapshot import PageNode, iter_subtree
from browsers.acting.outline import Outline, OutlineLine
from browsers.acting.roles_and_names import ACTIVE, ALIKE, FIELDS
from browsers.model import ScreenshotRequest
from browsers.text_quoting import clean_text, join_first, quote, truncate

MAX_STEPS = 50
_MAX_STEP_CHARS = 10_000
"""Characters of one step, and maximum of a coordinate in pixels."""
_MAX_TIMES = 50
"""Clicks of one `more` step."""
_MAX_WAIT_S = 30.0
"""Seconds of one `wait` step."""
_DEFAULT_TIMES = 20
_ECHO_CHARS = 80

REQUEST_VERBS = frozenset({"click", "type", "select", "upload", "press", "drag", "more", "point", "hover", "call"})
"""Verbs after which requests of the page count as caused by a step."""
WRITE_VERBS = frozenset({"click", "type", "select", "upload", "press", "drag", "point", "call"})
"""Verbs that may change something on the site, so that a crashed tab is not opened again after them."""
PICTURE_VERB = "picture"
"""Verb of the step that takes a picture. Callers cannot write it: a tool of its own returns pictures."""

LOCAL_FILE = "file"
"""Way of an `upload` step whose file was read from this machine."""

_TARGET = re.compile(r"(?P<ref>(?:f\d+)?e\d+)(?![\w])|(?:(?P<role>[A-Za-z]\w*)\s+)?\"(?P<name>[^\"]+)\"")
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"'})


class StepSyntaxError(ValueError):
    """A step cannot be parsed. The message has the correct syntax."""


@dataclass(frozen=True, slots=True)
class StepTarget:
    """Element that a step refers to: by reference, or by name with an optional role."""

    ref: str = ""
    role: str = ""
    name: str = ""
    within: str = ""
    """Text beside the element, which tells it from others of its name."""
    takes_text: bool = field(default=False, compare=False)
    """True to prefer fields to other lines of the name."""

    def __str__(self) -> str:
        """Return the target as it is written in a step."""
        within = f' in "{self.within}"' if self.within else ""
        return self.ref or f'{self.role} "{self.name}"{within}'.strip()


@dataclass(frozen=True, slots=True)
class Step:
    """One parsed step; its verb decides which fields are set."""

    source: str
    """The step as written, for reports."""
    verb: str
    target: StepTarget | None = None
    to: StepTarget | None = None
    text: str = ""
    """URL, words, text to type, key, direction, name of a file or of a tool of the page."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of a tool of the page."""
    data: bytes | None = field(default=None, repr=False)
    """Content of the file to upload; None for a file that the caller must read."""
    options: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    """Pixels, coordinates, seconds or a number of repetitions."""
    submits: bool = False
    """True if Enter is pressed after the text."""
    picture: ScreenshotRequest | None = None
    """Picture to take, only for `PICTURE_VERB`."""
    way: str = ""
    """`twice` or `right` (click), `accept` (dialogs), `slowly` (type), `LOCAL_FILE` (upload)."""


def parse_steps(sources: list[str]) -> list[Step]:
    """Parse the steps of a call. Raises StepSyntaxError if one is invalid, or for none or more than `MAX_STEPS`."""
    if not sources:
        raise StepSyntaxError(f"steps is empty; there are: {', '.join(_VERBS)}")
    if len(sources) > MAX_STEPS:
        raise StepSyntaxError(f"there are {len(sources)} steps, and one call takes at most {MAX_STEPS}")
    return [parse_step(source) for source in sources]


def parse_step(source: str) -> Step:
    """Parse one step; raise StepSyntaxError if it is invalid."""
    source = source.encode("utf-8", "replace").decode().strip()
    if len(source) > _MAX_STEP_CHARS:
        raise StepSyntaxError(f"a step has {len(source)} characters, and may have at most {_MAX_STEP_CHARS}")
    verb, _, rest = source.partition(" ")
    verb, rest = verb.lower(), rest.strip()
    if verb not in _VERBS:
        close = difflib.get_close_matches(verb, _VERBS, 1, 0.5)
        hint = f"did you mean: {_VERBS[close[0]][0]}" if close else f"there are: {', '.join(_VERBS)}"
        raise StepSyntaxError(f"{_echo(verb or source)} is not a step; {hint}")
    return _VERBS[verb][1](source, verb, rest)


def _echo(text: str) -> str:
    return quote(clean_text(truncate(text, _ECHO_CHARS)))


def _wrong(source: str, verb: str, why: str = "") -> StepSyntaxError:
    return StepSyntaxError(f"{_echo(source)} is incomplete{': ' + why if why else ''}; write {_VERBS[verb][0]}")


def _take_target(source: str, verb: str, rest: str) -> tuple[StepTarget, str]:
    """Parse the target at the start of `rest`; return it and the text after it."""
    match = _TARGET.match(rest.translate(_QUOTES))
    if match is None:
        raise _wrong(source, verb, 'a target is a reference (e12), role "name" or "text"')
    role = (match["role"] or "").lower()
    name = " ".join((match["name"] or "").split())
    target, rest = StepTarget(match["ref"] or "", role, name), rest[match.end() :].strip()
    if name and rest.startswith("in ") and (around := _TARGET.match(rest[3:].strip().translate(_QUOTES))):
        target = StepTarget("", role, name, " ".join((around["name"] or "").split()))
        rest = rest[3:].strip()[around.end() :].strip()
    return target, rest


def _too_long(source: str, verb: str) -> StepSyntaxError:
    return StepSyntaxError(f"{_echo(source)} has too many words; write {_VERBS[verb][0]}")


def _parse_plain(source: str, verb: str, rest: str) -> Step:
    if rest:
        raise _too_long(source, verb)
    return Step(source, verb)


def _parse_words(source: str, verb: str, rest: str) -> Step:
    if not rest and verb != "look":
        raise _wrong(source, verb)
    return Step(source, verb, text=rest)


def _parse_press(source: str, verb: str, rest: str) -> Step:
    keys = rest.removesuffix(" accept").strip()
    if not keys:
        raise _wrong(source, verb)
    return Step(source, verb, text=keys, way="accept" if keys != rest else "")


def _parse_wait(source: str, verb: str, rest: str) -> Step:
    if not rest:
        raise _wrong(source, verb)
    number = rest.removesuffix("s").strip()
    if _NUMBERS.fullmatch(number):
        seconds = float(number)
        if not 0 <= seconds <= _MAX_WAIT_S:
            raise StepSyntaxError(f"{_echo(source)}: wait takes 0 to {_MAX_WAIT_S:.0f} seconds")
        return Step(source, verb, numbers=(seconds,))
    return Step(source, verb, text=rest.translate(_QUOTES).strip('"'))


def _parse_targeted(source: str, verb: str, rest: str) -> Step:
    target, rest = _take_target(source, verb, rest)
    way, _, answer = (part.strip() for part in rest.partition("="))
    way = way.lower()
    if answer and way != "accept":
        raise StepSyntaxError(f"{_echo(source)}: only accept takes an answer; write {_VERBS[verb][0]}")
    if way and not (verb == "click" and way in ("twice", "right", "accept")):
        raise _too_long(source, verb)
    return Step(source, verb, target, text=answer, way=way)


def _parse_type(source: str, verb: str, rest: str) -> Step:
    target, rest = _take_target(source, verb, rest)
    way, equals, text = rest.partition("=")
    if not equals or way.strip() not in ("", "slowly"):
        raise _wrong(source, verb, "the text follows =")
    head, plus, key = text.rpartition("+")
    submits = plus != "" and key.strip() == "Enter" and head[-1:].isspace()
    target = replace(target, takes_text=True)
    return Step(source, verb, target, text=(head if submits else text).strip(), submits=submits, way=way.strip())


def _parse_select(source: str, verb: str, rest: str) -> Step:
    target, rest = _take_target(source, verb, rest)
    if not rest.startswith("="):
        raise _wrong(source, verb, "the option follows =")
    options = [part.translate(_QUOTES).strip().strip('"').strip() for part in rest[1:].split("|")]
    if not all(options):
        raise _wrong(source, verb, "an option is empty")
    return Step(source, verb, replace(target, takes_text=True), options=tuple(options))


def _parse_upload(source: str, verb: str, rest: str) -> Step:
    target, rest = _take_target(source, verb, rest)
    name, colon, text = rest.removeprefix("=").strip().partition(":")
    if not rest.startswith("=") or not name:
        raise _wrong(source, verb, "the file follows =")
    if colon and "." in name and "/" not in name:
        return Step(source, verb, target, text=name.strip(), data=text.strip().encode())
    return Step(source, verb, target, text=f"{name}{colon}{text}")


def _parse_drag(source: str, verb: str, rest: str) -> Step:
    target, rest = _take_target(source, verb, rest)
    if rest.startswith("by "):
        numbers = tuple(float(number) for number in _NUMBERS.findall(rest))
        if len(numbers) != 2:
            raise _wrong(source, verb, "by takes two numbers of pixels")
        return Step(source, verb, target, numbers=numbers)
    if not rest.startswith("to "):
        raise _wrong(source, verb)
    to, rest = _take_target(source, verb, rest[3:].strip())
    return Step(source, verb, target, to)


def _parse_scroll(source: str, verb: str, rest: str) -> Step:
    if rest.lower() in ("down", "up", "end", ""):
        return Step(source, verb, text=rest.lower() or "down")
    target, rest = _take_target(source, verb, rest)
    numbers = tuple(float(number) for number in _NUMBERS.findall(rest))
    if len(numbers) > 1 or (rest and not numbers):
        raise _wrong(source, verb)
    return Step(source, verb, target, numbers=numbers)


def _parse_more(source: str, verb: str, rest: str) -> Step:
    target, rest = _take_target(source, verb, rest)
    times = rest.split(" ")[0] if rest else str(_DEFAULT_TIMES)
    if not times.isdecimal() or not 1 <= int(times) <= _MAX_TIMES:
        raise StepSyntaxError(f"{_echo(source)}: more takes 1 to {_MAX_TIMES} times")
    return Step(source, verb, target, numbers=(float(times),))


def _parse_point(source: str, verb: str, rest: str) -> Step:
    numbers = tuple(float(number) for number in _NUMBERS.findall(rest))
    if len(numbers) not in (2, 4) or any(not 0 <= number <= _MAX_STEP_CHARS for number in numbers):
        raise _wrong(source, verb, "x and y are pixels of the window")
    return Step(source, verb, numbers=numbers)


def _parse_call(source: str, verb: str, rest: str) -> Step:
    name, brace, text = rest.partition("{")
    name = name.strip().translate(_QUOTES).strip('"')
    if not name:
        raise _wrong(source, verb)
    try:
        arguments = json.loads(brace + text or "{}")
    except (ValueError, RecursionError) as error:
        raise _wrong(source, verb, f"the arguments are not JSON ({error})") from None
    return Step(source, verb, text=name, arguments=arguments)


_VERBS = {
    "open": ("open URL", _parse_words),
    "look": ("look [words]", _parse_words),
    "click": ("click TARGET [twice|right|accept [= answer]]", _parse_targeted),
    "type": ("type TARGET [slowly] = text [+ Enter]", _parse_type),
    "select": ("select TARGET = option [| option]", _parse_select),
    "upload": ("upload TARGET = name.txt: text, or upload TARGET = file below the document root", _parse_upload),
    "press": ("press Key [accept]", _parse_press),
    "hover": ("hover TARGET", _parse_targeted),
    "drag": ("drag TARGET to TARGET, or drag TARGET by x y", _parse_drag),
    "scroll": ("scroll down|up|end|TARGET [pixels]", _parse_scroll),
    "more": ("more TARGET [times]", _parse_more),
    "wait": ("wait words|seconds", _parse_wait),
    "back": ("back", _parse_plain),
    "point": ("point x y [to x y]", _parse_point),
    "call": ("call NAME {json}, with a tool of the page", _parse_call),
    "read": ("read", _parse_plain),
    "close": ("close", _parse_plain),
}
"""Syntax and parser of each verb."""


_MAX_NAMED = 5
"""References listed in the error if a target is ambiguous."""

_VALUE = ' = "'
"""Start of the states of a field with a value."""


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
    lines = outline.pieces
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
            found = _unify([line for line in among if line.is_active == is_active and test(line)], outline, target)
            if len(found) > 1 and target.within:
                found = _nearest(found, outline, target.within.lower())
            if len(found) == 1:
                return found[0]
            if found:
                enabled = [line for line in found if "[disabled]" not in line.states]
                if len(enabled) == 1:
                    return enabled[0]
                refs = [line.ref for line in found]
                message = f"{len(found)} lines match {target}: {join_first(refs, _MAX_NAMED)}"
                raise StepTargetError(message, tuple(refs[:_MAX_NAMED]))
    raise StepTargetError(f"nothing on the page matches {target}")


def _unify(found: list[OutlineLine], outline: Outline, target: StepTarget) -> list[OutlineLine]:
    """Return lines without those that stand for another: in a link or button, or a link with the same target."""
    if target.takes_text:
        found = [line for line in found if line.role in FIELDS] or found
        around = {line.control for line in found}
        found = [line for line in found if line.ref not in around]
    controls = {line.ref: line for line in outline.lines if line.is_active} if any(one.control for one in found) else {}
    unified: dict[tuple[str, str], OutlineLine] = {}
    for line in found:
        line = line if line.is_active else controls.get(line.control, line)
        is_address = line.goal not in ("", "#") and not line.goal.startswith("javascript:")
        # A landmark and the text in it may have one reference.
        unified.setdefault((line.frame_id, line.goal) if is_address else ("", line.ref), line)
    return list(unified.values())


def _nearest(found: list[OutlineLine], outline: Outline, words: str) -> list[OutlineLine]:
    """Return the lines that share the smallest part of the page with these words; of a list the first after them."""
    pieces = outline.pieces
    # By identity: a comparison of all fields for each pair would be slow on a page with many such lines.
    known = {id(line) for line in found}
    named = [line for line in pieces if words in line.name.lower() and id(line) not in known]
    nodes = list(iter_subtree(outline.root))
    texts = [(line.ref, line.name.lower()) for line in named]
    texts += [(node.ref, label) for node in nodes if words in (label := node.attributes.get("aria-label", "").lower())]
    refs = {line.ref for line in found}.union(dict(texts))
    chains = {node.ref: [node, *node.ancestors()] for node in nodes if node.ref in refs}
    # A text that says no more than the words is meant, if it is beside one line only.
    nearest = _share_most(found, [ref for ref, text in texts if text == words], chains)
    if len(nearest) != 1:
        nearest = _share_most(found, [ref for ref, _ in texts], chains)
    if len(nearest) < 2 or not named:
        return list(nearest.values())
    after = itertools.dropwhile(lambda line: line is not named[0], pieces)
    return [line for line in after if id(line) in nearest][:1] or list(nearest.values())


def _share_most(
    found: list[OutlineLine], given: list[str], chains: Mapping[str, list[PageNode]]
) -> dict[int, OutlineLine]:
    """Return the lines, by `id()`, that share most of the nodes around the given references, but at least one."""
    around = {id(node) for ref in given for node in chains[ref]}
    depths = [sum(id(node) in around for node in chains[line.ref]) for line in found]
    deepest = max(depths)
    return {id(line): line for line, depth in zip(found, depths, strict=True) if depth == deepest > 0}


def find_same_control(outline: Outline, line: OutlineLine) -> OutlineLine | None:
    """Return the only control with the same role and name as a line, or None."""
    same = [one for one in outline.lines if one.is_active and (one.role, one.name) == (line.role, line.name)]
    return same[0] if len(same) == 1 else None


def _with_role(lines: list[OutlineLine], role: str) -> list[OutlineLine]:
    exact = [line for line in lines if line.role == role]
    roles = frozenset[str]().union(*(group for group in ALIKE if role in group))
    return exact or [line for line in lines if role in ACTIVE and line.role in roles]


def _value_of(line: OutlineLine) -> str:
    if line.role not in FIELDS or not line.states.startswith(_VALUE):
        return ""
    return line.states[len(_VALUE) :].partition('"')[0]
