"""Oracles for texts, editors, drags and drawn figures."""

from __future__ import annotations

import re

from benchmarks.acting.miniwob.episode import ORDINALS, Episode, UnsolvedError, active, middle, solves
from browsers.acting.outline import OutlineLine


@solves("simple-arithmetic")
async def calculate(page: Episode) -> None:
    found = re.search(r"(\d+)\s*([-+x*])\s*(\d+)\s*=", await page.text())
    if found is None:
        raise UnsolvedError("no problem")
    one, other = int(found[1]), int(found[3])
    await page.type(str({"+": one + other, "-": one - other}.get(found[2], one * other)), "textbox")
    await page.submit()


@solves("simple-algebra")
async def solve_equation(page: Episode) -> None:
    found = re.search(r"(x|\d+) *([-+]) *(x|\d+) *= *(-?\d+)", await page.text())
    if found is None:
        raise UnsolvedError("no equation")
    one, sign, other, result = found.groups()
    if one == "x":
        value = int(result) - int(other) if sign == "+" else int(result) + int(other)
    else:
        value = int(result) - int(one) if sign == "+" else int(one) - int(result)
    await page.type(str(value), "textbox")
    await page.submit()


@solves("find-word")
async def find_word(page: Episode) -> None:
    number = int(page.match(r"the (\d+)\w\w word")[0])
    texts = [line.name for line in await page.lines() if line.role == "text"]
    await page.type(re.sub(r"[.,]", "", max(texts, key=len).split()[number - 1]), "textbox")
    await page.submit()


@solves("text-transform")
async def read_letters(page: Episode) -> None:
    texts = [line.name for line in await page.lines() if line.role == "text"]
    await page.type("".join(texts), "textbox")
    await page.submit()


@solves("copy-paste copy-paste-2")
async def copy_text(page: Episode) -> None:
    found = re.search(r"the (\w+) text area", page.question)
    fields = await page.find_all("textbox")
    filled = [field for field in fields if "=" in field.states] or fields
    source = filled[ORDINALS[found[1]] if found else 0]
    target = next((field for field in fields if field not in filled), fields[-1])
    await page.act(f"click {source.ref}")
    await page.act("press Control+a")
    await page.act("press Control+c")
    await page.act(f"click {target.ref}")
    await page.act("press Control+v")
    await page.submit()


@solves("scroll-text-2")
async def scroll_text(page: Episode) -> None:
    field = await page.find("textbox")
    await page.act(f"scroll {field.ref} 9000")
    await page.submit()


@solves("scroll-text")
async def find_last_word(page: Episode) -> None:
    fields = await page.find_all("textbox")
    # The line of a field has the beginning of its value only.
    words = re.findall(r"[A-Za-z]+", page.value_of(fields[0].ref))
    await page.act(f"type {fields[1].ref} = {words[-1]}")
    await page.submit()


@solves("highlight-text highlight-text-2")
async def select_paragraph(page: Episode) -> None:
    found = re.search(r"the (\d\w\w) paragraph", page.question)
    texts = [line for line in await page.lines() if line.role == "text" and len(line.name) > 15]
    line = texts[ORDINALS[found[1]] if found else 0]
    assert line.box is not None
    left, top, width, height = line.box
    await page.act(f"point {left + 1:.0f} {top + 4:.0f} to {left + width - 1:.0f} {top + height - 3:.0f}")
    await page.submit()


@solves("resize-textarea")
async def resize(page: Episode) -> None:
    field = await page.find("textbox")
    assert field.box is not None
    left, top, width, height = field.box
    dx = 30 if "width is larger" in page.question else -30 if "width is smaller" in page.question else 0
    dy = 30 if "height is larger" in page.question else -30 if "height is smaller" in page.question else 0
    x, y = left + width - 5, top + height - 5
    await page.act(f"point {x:.0f} {y:.0f} to {x + dx:.0f} {y + dy:.0f}")
    await page.submit()


@solves("terminal")
async def delete_file(page: Episode) -> None:
    await page.click("clickable", name="terminal", is_part=True)
    await _enter(page, "ls")
    files = re.findall(r"[\w.]+", (await page.text()).split("ls", 1)[1])
    ending = re.search(r"extension (\.[\w.]+)", page.question)
    file = next(one for one in files if (one.endswith(ending[1]) if ending else "." not in one and one != "user"))
    await _enter(page, f"rm {file}")


async def _enter(page: Episode, command: str) -> None:
    await page.act_all(*(f"press {'Space' if letter == ' ' else letter}" for letter in command))
    await page.act("press Enter")


@solves("text-editor")
async def style_text(page: Episode) -> None:
    field = await page.find("textbox")
    style = re.search(r"style (\w+)", page.question)
    word = re.search(r"the text (.+?) the (?:style|color)", page.question)
    color = re.search(r"color (\w+)", page.question)
    await page.act(f"click {field.ref}")
    if word is None:
        await page.act("press Control+a")
    else:
        await _select_word(page, word[1])
    if style is not None:
        await page.click(
            "button", name={"bold": "ql-bold", "italics": "ql-italic", "underlined": "ql-underline"}[style[1]]
        )
    elif color is not None:
        await page.click("clickable", "button", name="ql-picker-label")
        await page.act("wait 0.3")
        # The colors of the editor's palette, in its order: rows of seven.
        column = ["red", "orange", "yellow", "green", "blue", "purple"].index(color[1]) + 1
        items = [
            line for line in active(await page.lines()) if "ql-picker-item" in line.name or "ql-primary" in line.name
        ]
        await page.act(f"click {items[column].ref}")
    await page.submit()


async def _select_word(page: Episode, word: str) -> None:
    """Select a word by the keyboard, as a person does."""
    field = next(line for line in await page.find_all("textbox") if "=" in line.states)
    start = field.states.index(word) - field.states.index('"') - 1
    await page.act_all("press Control+Home", *(["press Right"] * start), *(["press Shift+Right"] * len(word)))


@solves("drag-items drag-items-grid")
async def drag_item(page: Episode) -> None:
    name, place = page.match(r"Drag (\w+) (?:to the )?(.+)\.")
    items = [line for line in await page.lines() if re.fullmatch(r"[A-Z][a-z]+", line.name)]
    at = [item.name for item in items].index(name)
    if len(items) > 5:
        target = _place_in_grid(at, place)
    else:
        word = place.split()[0]
        places = ORDINALS | {"up": at - 1, "down": at + 1, "top": 0, "bottom": len(items) - 1}
        target = places[word]
    await _drag(page, items[at], items[target])


def _place_in_grid(at: int, place: str) -> int:
    row, column = divmod(at, 3)
    moves = {"up": (row - 1, column), "down": (row + 1, column), "left": (row, column - 1), "right": (row, column + 1)}
    if place.split()[0] in moves and len(place.split()) < 3 and "top" not in place:
        row, column = moves[place.split()[0]]
        return 3 * row + column
    row = 0 if "top" in place else 2 if "bottom" in place else 1
    column = 0 if "left" in place else 2 if "right" in place else 1
    return 3 * row + column


@solves("drag-sort-numbers")
async def sort_numbers(page: Episode) -> None:
    for _ in range(8):
        items = [line for line in await page.lines() if re.fullmatch(r"-?\d+", line.name)]
        values = [int(item.name) for item in items]
        ordered = sorted(values)
        if values == ordered:
            break
        at = next(number for number, value in enumerate(values) if value != ordered[number])
        await _drag(page, items[values.index(ordered[at])], items[at])
        await page.act("wait 0.4")
    await page.submit()


async def _drag(page: Episode, one: OutlineLine, other: OutlineLine) -> None:
    """Drag an item a little beyond the middle of another, so that it takes its place."""
    (x, y), (to_x, to_y) = middle(one), middle(other)
    beyond_x, beyond_y = (6 if to > start else -6 if to < start else 0 for to, start in ((to_x, x), (to_y, y)))
    await page.act(f"point {x:.0f} {y:.0f} to {to_x + beyond_x:.0f} {to_y + beyond_y:.0f}")


@solves("drag-box")
async def drag_box(page: Episode) -> None:
    small, large = await page.find("clickable", name="s"), await page.find("clickable", name="L")
    await page.act(f"drag {small.ref} to {large.ref}")
    await page.submit()


@solves("drag-circle drag-single-shape")
async def drag_aside(page: Episode) -> None:
    way = page.match(r"Drag the \w+ (\w+) then")[0]
    dx, dy = {"left": (-40, 0), "right": (40, 0), "up": (0, -40), "down": (0, 40)}[way]
    shape = await page.find("clickable", name="black-", is_part=True)
    await page.act(f"drag {shape.ref} by {dx} {dy}")
    await page.submit()


@solves("tic-tac-toe")
async def play(page: Episode) -> None:
    # A taken field does not change when it is pressed.
    for number in (4, 0, 8, 2, 6, 1, 3, 5, 7):
        if await page.is_done():
            return
        await page.act(f"click {(await page.find('clickable', name=f'ttt-{number}')).ref}")
