"""The cyclomatic complexity of functions, equal to radon 6.0.1."""

from __future__ import annotations

import ast

import pytest

from devtools.complexity import find_complexities

BY_RADON = [
    ("def f(a): return a", 1),
    ("def f(a, b, c): return a and b and c or a", 4),
    ("def f(a):\n if a: return 1\n elif not a: return 2\n else: return 3", 3),
    ("def f(a): return [x for x in a if x if x > 1]", 4),
    ("def f(a): return {x: y for x in a for y in x} if a else None", 4),
    ("def f(a):\n for x in a: pass\n else: return 1\n while a: pass", 4),
    ("def f(a):\n try: a()\n except ValueError: pass\n except OSError: pass\n else: a()\n finally: a()", 4),
    ("def f(a):\n try: a()\n except* ValueError: pass", 1),
    ("def f(a):\n assert a and a.b, [x for x in a]", 2),
    ("def f(a):\n match a:\n  case 1 | 2: pass\n  case [x] if x: pass\n  case _: pass", 3),
    ("def f(a):\n match a:\n  case 1: pass\n  case 2: pass", 3),
    ("async def f(a):\n async for x in a:\n  async with x as y: pass", 2),
    ("@g(1 if h else 2)\ndef f(a=1 or 2): return lambda x: x or a", 2),
    ("def f(a):\n class B:\n  c = 1 if a else 2\n return B if a else None", 2),
]


@pytest.mark.parametrize(("source", "complexity"), BY_RADON)
def test_a_function_is_as_complex_as_radon_says(source: str, complexity: int) -> None:
    assert [found for _, found in find_complexities(ast.parse(source))] == [complexity]


def test_methods_and_functions_in_functions_count_on_their_own() -> None:
    source = "class A:\n def m(self, a):\n  def inner(b): return b or a\n  return inner if a else None"
    found = {function.name: complexity for function, complexity in find_complexities(ast.parse(source))}
    assert found == {"m": 2, "inner": 2}
