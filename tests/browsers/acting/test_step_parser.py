"""Scripts of steps: every form, and every wrong one with what to write instead."""

from __future__ import annotations

import re

import pytest

from browsers.acting.step_parser import MAX_STEPS, Step, StepSyntaxError, StepTarget, parse_step, parse_steps

NEXT, CITY = StepTarget("", "button", "Next page"), StepTarget("", "", "City")


@pytest.mark.parametrize(
    ("source", "step"),
    [
        ("open https://example.com/a b", {"verb": "open", "text": "https://example.com/a b"}),
        ("look", {"verb": "look"}),
        ("look red shoes", {"verb": "look", "text": "red shoes"}),
        ("click e12", {"verb": "click", "target": StepTarget("e12")}),
        ("click f2e12 twice", {"verb": "click", "target": StepTarget("f2e12"), "way": "twice"}),
        ('CLICK Button "Next page" accept', {"verb": "click", "target": NEXT, "way": "accept"}),
        ("click “Weiter”", {"verb": "click", "target": StepTarget("", "", "Weiter")}),
        ('type "City" = Li = on + Enter', {"verb": "type", "target": CITY, "text": "Li = on", "submits": True}),
        ("type e3 =", {"verb": "type", "target": StepTarget("e3")}),
        ("type e3 slowly = ab", {"verb": "type", "target": StepTarget("e3"), "text": "ab", "way": "slowly"}),
        ('select e3 = "Onion" | Basil', {"verb": "select", "target": StepTarget("e3"), "options": ("Onion", "Basil")}),
        ("press Control+a", {"verb": "press", "text": "Control+a"}),
        ('drag e1 to "Van"', {"verb": "drag", "target": StepTarget("e1"), "to": StepTarget("", "", "Van")}),
        ("drag e1 by 140 -2", {"verb": "drag", "target": StepTarget("e1"), "numbers": (140.0, -2.0)}),
        ("scroll end", {"verb": "scroll", "text": "end"}),
        ("scroll e5 -300", {"verb": "scroll", "target": StepTarget("e5"), "numbers": (-300.0,)}),
        ('more "Show more" 5', {"verb": "more", "target": StepTarget("", "", "Show more"), "numbers": (5.0,)}),
        ("more e4", {"verb": "more", "target": StepTarget("e4"), "numbers": (20.0,)}),
        ("wait 1.5", {"verb": "wait", "numbers": (1.5,)}),
        ("wait 3 results", {"verb": "wait", "text": "3 results"}),
        ("point 10 20.5", {"verb": "point", "numbers": (10.0, 20.5)}),
        ("back", {"verb": "back"}),
        ('call find {"a b": [1]}', {"verb": "call", "text": "find", "arguments": {"a b": [1]}}),
        ('call "find it"', {"verb": "call", "text": "find it"}),
    ],
)  # fmt: skip
def test_a_step_is_parsed(source: str, step: dict[str, object]) -> None:
    assert parse_step(source) == Step(source, **step)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("clik e12", "did you mean: click TARGET"),
        ("dance", "is not a step; there are: open"),
        ("click", "write click TARGET"),
        ("click the button", "a target is a reference"),
        ("click e12 softly", "too many words"),
        ("type e12 hello", "the text follows ="),
        ("select e12 = a | ", "an option is empty"),
        ("wait 9999", "0 to 30 seconds"),
        ("more e1 0", "1 to 50 times"),
        ("drag e1", "write drag TARGET to TARGET, or drag TARGET by x y"),
        ("type e12", "write type TARGET [slowly] = text [+ Enter]"),
        ("point 1", "pixels of the window"),
        ("call find {a: 1}", "the arguments are not JSON"),
        ('call {"a": 1}', "write call NAME {json}"),
        ('call find {"a":' + "[" * 4_000, "the arguments are not JSON"),
        ("open", "write open URL"),
        ("back now", "too many words"),
        ("type e1 = " + "x" * 10_001, "at most 10000"),
    ],
)
def test_a_wrong_step_names_the_right_form(source: str, message: str) -> None:
    with pytest.raises(StepSyntaxError, match=re.escape(message)):
        parse_step(source)


def test_scripts_are_bounded_and_not_empty() -> None:
    with pytest.raises(StepSyntaxError, match="empty"):
        parse_steps([])
    with pytest.raises(StepSyntaxError, match="at most"):
        parse_steps(["look"] * (MAX_STEPS + 1))


def test_lone_surrogates_do_not_break_a_step() -> None:
    assert parse_step("type e1 = a\ud800b").text == "a?b"
