"""Switch rules of the product off without switches in the product, and find the inputs on which a rule has an effect.

A rule is a function. Its code object is replaced, so that all modules and tables that hold the function follow.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Generic, TypeVar, cast

import numpy as np
from lxml import etree

from scraper.facts.model import Facts

_T = TypeVar("_T")
_TABLE = Path(__file__).parent / "rules.toml"

NEUTRAL: Mapping[str, Callable[..., Any]] = {
    "none": lambda *_, **__: None,
    "false": lambda *_, **__: False,
    "true": lambda *_, **__: True,
    "zero": lambda *_, **__: 0,
    "one": lambda *_, **__: 1.0,
    "empty_bytes": lambda *_, **__: b"",
    "text": lambda *_, **__: "",
    "list": lambda *_, **__: [],
    "dict": lambda *_, **__: {},
    "tuple": lambda *_, **__: (),
    "set": lambda *_, **__: frozenset(),
    "iter": lambda *_, **__: iter(()),
    "first": lambda *given, **_: given[0],
    "second": lambda *given, **_: given[1],
    # The text of an element, and all items of a list in their order.
    "own_text": lambda element, *_, **__: "".join(element.itertext()),
    "iterate_first": lambda items, *_, **__: iter(items),
    "one_region": lambda rows, *_, **__: iter([rows]),
    # No block, and the chosen blocks without cells of tables.
    "mask": lambda page, *_, **__: page.index < 0,
    "tables": lambda page, chosen, *_, **__: (chosen, page.index < 0),
    "two_lists": lambda *_, **__: ([], []),
    "two_texts": lambda *_, **__: ("", ""),
    "two_tuples": lambda *_, **__: ((), []),
    "no_columns": lambda *_, **__: ([], 0),
    "halves": lambda _, start, end, *__: (start, end, []),
    "pages_only": lambda pages, *_, **__: (list(pages), {}),
    "runs_only": lambda runs, *_, **__: (tuple(runs), ()),
}
"""What a function does while its rule is switched off."""
_UNRULED = "modules_without_rules"
_ARGUMENTS = {"first": 0, "second": 1}


@dataclass(frozen=True, slots=True)
class Rule:
    """A function whose behavior can be replaced by a neutral one."""

    group: str
    name: str
    """Module and function, such as `scraper.facts.money:guess_currency`."""
    neutral: str
    """Key of `NEUTRAL`."""

    def function(self) -> FunctionType:
        """Return the function of the rule, without its cache.

        Raises:
            AttributeError: There is no such function.
        """
        module, _, path = self.name.partition(":")
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        unwrapped: Any = inspect.unwrap(found)
        return cast(FunctionType, getattr(unwrapped, "__func__", unwrapped))


def load_rules(names: Sequence[str] = ()) -> list[Rule]:
    """Return the rules of the table; with `names`, those whose names contain one of them.

    Raises:
        LookupError: No rule has such a name.
    """
    rules = [Rule(group, name, neutral) for group, listed in _read_table().items() for name, neutral in listed.items()]
    chosen = [rule for rule in rules if not names or any(name in rule.name for name in names)]
    if not chosen:
        raise LookupError(f"No rule has such a name: {', '.join(names)}.")
    return chosen


def unruled_modules() -> set[str]:
    """Return the modules of the packages that hold no rules, but mechanisms that others need, or safety."""
    return set(tomllib.loads(_TABLE.read_text(encoding="utf-8"))[_UNRULED])


def _read_table() -> dict[str, dict[str, str]]:
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return {group: listed for group, listed in table.items() if group != _UNRULED}


_off: frozenset[str] = frozenset()
"""Names of the rules that are switched off."""


@contextmanager
def switched_off(rules: Sequence[Rule]) -> Iterator[None]:
    """Replace the functions of the rules by neutral ones while the block runs."""
    global _off
    with ExitStack() as restored:
        _off = frozenset(rule.name for rule in rules)
        for rule in rules:
            code = cast(FunctionType, NEUTRAL[rule.neutral]).__code__
            restored.enter_context(_replaced(rule.function(), code))
        clear_caches()
        yield
    _off = frozenset()
    clear_caches()


@contextmanager
def _replaced(function: FunctionType, code: CodeType) -> Iterator[None]:
    kept = function.__code__, function.__defaults__, function.__kwdefaults__
    function.__code__, function.__defaults__, function.__kwdefaults__ = code, None, None
    try:
        yield
    finally:
        function.__code__, function.__defaults__, function.__kwdefaults__ = kept


def clear_caches() -> None:
    """Empty the caches of all functions of the product, which hold results of inner functions."""
    for name, module in list(sys.modules.items()):
        if name.startswith("scraper."):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper) and "classifier" not in value.__name__:
                    value.cache_clear()


class Tracer:
    """Records the rules that have an effect: whose result or changes differ from those of the neutral function."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        """Prepare to trace these rules."""
        self._rules = {rule.name: rule for rule in rules}
        self._originals: dict[str, Callable[..., Any]] = {}
        self.effective: set[str] = set()
        """Names of the rules with an effect since this set was last replaced."""

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Trace the rules while the block runs."""
        global _tracer
        with ExitStack() as restored:
            for rule in self._rules.values():
                function = rule.function()
                self._originals[rule.name] = _copy(function)
                restored.enter_context(_replaced(function, _forward(rule.name)))
            _tracer = self
            yield
            _tracer = None
        clear_caches()

    def call(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call the original function of a rule, and note an effect."""
        original, neutral = self._originals[name], self._rules[name].neutral
        if name in self.effective:
            return original(*arguments, **named)
        may_change = neutral in ("none", *_ARGUMENTS)
        before = _fingerprint(arguments) if may_change else None
        try:
            result = original(*arguments, **named)
        except Exception:
            self.effective.add(name)
            raise
        if inspect.isgenerator(result):
            return self._note_items(name, result)
        is_neutral = _are_equal(result, NEUTRAL[neutral](*arguments, **named))
        if not is_neutral or (before is not None and before != _fingerprint(arguments)):
            self.effective.add(name)
        return result

    def _note_items(self, name: str, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self.effective.add(name)
            yield item


_tracer: Tracer | None = None
"""Tracer that the functions of traced rules call."""


def call_traced(name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Call a traced rule; the code that replaces its function calls this."""
    assert _tracer is not None
    return _tracer.call(name, arguments, named)


class Memo(Generic[_T]):
    """Results of inputs of which only those are computed again on which a switched-off rule has an effect."""

    def __init__(self) -> None:
        """Start without results."""
        self._known: dict[int, tuple[_T, frozenset[str]]] = {}

    def get(self, key: int, compute: Callable[[], _T]) -> _T:
        """Return the result for a key."""
        if _tracer is not None:
            outer, _tracer.effective = _tracer.effective, set()
            result = compute()
            self._known[key] = result, frozenset(_tracer.effective)
            _tracer.effective |= outer
            return result
        known = self._known.get(key)
        return known[0] if known is not None and not _off & known[1] else compute()


def _forward(name: str) -> CodeType:
    source = (
        "def forward(*arguments, **named):\n"
        "    from benchmarks.ablation.switches import call_traced\n"
        f"    return call_traced({name!r}, arguments, named)\n"
    )
    scope: dict[str, Any] = {}
    exec(compile(source, "<traced rule>", "exec"), scope)
    return cast(FunctionType, scope["forward"]).__code__


def _copy(function: FunctionType) -> FunctionType:
    copied = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied


def _are_equal(one: Any, other: Any) -> bool:
    """Return True if two results are equal for the caller."""
    if one is other:
        return True
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    if isinstance(one, set | frozenset | dict) and isinstance(other, set | frozenset | dict):
        return not one and not other
    return isinstance(one, bool | str | int | float) and type(one) is type(other) and one == other


def _fingerprint(value: Any, depth: int = 0) -> object:
    """Return a value that changes with the argument. Elements inside a tree always count as changed."""
    if isinstance(value, etree._Element):
        around = value.getparent()
        is_whole = around is None or value.tag == "body"
        return hash(etree.tostring(value)) if is_whole else object()
    if isinstance(value, Facts):
        return repr(vars(value))
    if isinstance(value, list | tuple):
        return tuple(_fingerprint(one, depth + 1) if depth < 2 else id(one) for one in value)
    if isinstance(value, dict):
        return tuple((key, id(one)) for key, one in value.items())
    if is_dataclass(value) and not isinstance(value, type) and depth < 3:
        return tuple(_fingerprint(getattr(value, field.name), depth + 1) for field in fields(value))
    return id(value)
