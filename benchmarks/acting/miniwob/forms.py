"""Oracles for fields, boxes, lists of options, sliders and dates."""

from __future__ import annotations

import re

from benchmarks.acting.miniwob.episode import FIELDS, ORDINALS, Episode, UnsolvedError, active, solves

_MONTHS = "January February March April May June July August September October November December".split()
_COLORS = {
    "maroon": "800000",
    "navy": "000080",
    "olive": "808000",
    "purple": "800080",
    "teal": "008080",
    "green": "008000",
    "white": "FFFFFF",
    "black": "000000",
    "red": "FF0000",
    "lime": "00FF00",
    "blue": "0000FF",
    "yellow": "FFFF00",
    "cyan": "00FFFF",
    "aqua": "00FFFF",
    "magenta": "FF00FF",
    "fuchsia": "FF00FF",
    "silver": "C0C0C0",
    "gray": "808080",
    "orange": "FFA500",
}


@solves("click-option")
async def choose_option(page: Episode) -> None:
    await page.click("radio", name=page.match("Select (.+) and click")[0])
    await page.submit()


@solves("click-checkboxes click-checkboxes-large click-checkboxes-transfer")
async def check_boxes(page: Episode) -> None:
    names = page.match("Select (.+) and click")[0]
    for name in [] if names == "nothing" else names.split(", "):
        await page.click("checkbox", name=name)
    await page.submit()


@solves("choose-list click-scroll-list")
async def choose_from_list(page: Episode) -> None:
    field = await page.find("combobox", "listbox")
    await page.act(f"select {field.ref} = {' | '.join(page.match('Select (.+) from the')[0].split(', '))}")
    await page.submit()


@solves("enter-text enter-text-dynamic")
async def enter_text(page: Episode) -> None:
    await page.type(page.quoted()[0])
    await page.submit()


@solves("enter-text-2")
async def enter_in_case(page: Episode) -> None:
    text = page.quoted()[0]
    await page.type(text.upper() if "upper" in page.question else text.lower())
    await page.submit()


@solves("enter-password")
async def enter_twice(page: Episode) -> None:
    for number in range(2):
        await page.type(page.quoted()[0], number=number)
    await page.submit()


@solves("login-user login-user-popup")
async def log_in(page: Episode) -> None:
    name, word = page.quoted()
    for text, role in ((name, "textbox"), (word, "password")):
        await page.type(text, role)
        if await _cancel(page):
            # The box took the place of the field.
            await page.type(text, role)
    lines = await page.find_all("button")
    await page.act(f"click {lines[-1].ref}")


async def _cancel(page: Episode) -> bool:
    """Answer a box that asks whether to leave; return True if there was one."""
    for line in active(await page.lines()):
        if line.name.lower() in ("cancel", "no"):
            await page.act(f"click {line.ref}")
            return True
    return False


@solves("enter-date")
async def enter_date(page: Episode) -> None:
    month, day, year = page.match(r"(\d+)/(\d+)/(\d+)")
    await page.type(f"{year}-{month}-{day}", "date")
    await page.submit()


@solves("enter-time")
async def enter_time(page: Episode) -> None:
    hour, minute, half = page.match(r"(\d+):(\d+) ([AP]M)")
    await page.type(f"{int(hour) % 12 + (12 if half == 'PM' else 0):02}:{minute}", "time")
    await page.submit()


@solves("focus-text focus-text-2")
async def focus(page: Episode) -> None:
    found = re.search(r"(\d\w\w) input", page.question)
    await page.click("textbox", number=ORDINALS[found[1]] if found else 0)


@solves("use-spinner")
async def spin(page: Episode) -> None:
    await page.type(page.match(r"Select (-?\d+)")[0], "spinbutton")
    await page.submit()


@solves("use-slider")
async def slide(page: Episode) -> None:
    await _slide(page, 0, int(page.match(r"Select (-?\d+)")[0]))
    await page.submit()


@solves("use-slider-2")
async def slide_all(page: Episode) -> None:
    for number, value in enumerate(page.match(r"\[(\d+),(\d+),(\d+)\]")):
        await _slide(page, number, int(value))
    await page.submit()


async def _slide(page: Episode, number: int, value: int) -> None:
    """Move a slider with the arrow keys to a value, which is the text after its handle."""
    handle = await page.find("slider", "clickable", name="ui-slider-handle", number=number)
    await page.act(f"click {handle.ref}")
    for _ in range(4):
        lines = await page.lines()
        at = [line.ref for line in lines].index(handle.ref)
        shown = next(int(line.name) for line in lines[at:] if re.fullmatch(r"-?\d+", line.name))
        if shown == value:
            return
        await page.act_all(*([f"press {'Right' if value > shown else 'Left'}"] * abs(value - shown)))


@solves("form-sequence")
async def slide_and_check(page: Episode) -> None:
    value, nth = page.match(r"Select (-?\d+) with the slider, click the (\w+) check")
    await _slide(page, 0, int(value))
    await page.click("checkbox", number=ORDINALS[nth])
    await page.submit()


@solves("form-sequence-2")
async def check_and_enter(page: Episode) -> None:
    nth, number, field = page.match(r'the (\w+) radio button and enter the number "(-?\d+)" into the (\w+) textbox')
    await page.click("radio", number=ORDINALS[nth])
    await page.type(number, "textbox", number=ORDINALS[field])
    await page.submit()


@solves("form-sequence-3")
async def choose_and_click(page: Episode) -> None:
    choice, button = page.match('Choose (.+) from the dropdown, then click the button labeled "(.+)"')
    field = await page.find("combobox", "clickable")
    if field.role == "combobox":
        await page.act(f"select {field.ref} = {choice}")
    else:
        await page.act(f"click {field.ref}")
        await page.click(name=choice)
    await page.click("button", name=button)


@solves("use-autocomplete use-autocomplete-nodelay")
async def choose_suggestion(page: Episode) -> None:
    parts = page.quoted()
    await page.type(parts[0], "textbox", "combobox", way="slowly ")
    await page.act("wait 0.7")
    for line in await page.lines():
        is_wanted = line.name.startswith(parts[0]) and (len(parts) < 2 or line.name.endswith(parts[1]))
        if is_wanted and line.role not in FIELDS:
            await page.act(f"click {line.ref}")
            break
    await page.submit()


@solves("choose-date choose-date-easy choose-date-medium choose-date-nodelay")
async def choose_date(page: Episode) -> None:
    await page.click("textbox")
    await _choose_day(page, *map(int, page.match(r"(\d+)/(\d+)/(\d+)")[:2]))
    await page.submit()


async def _choose_day(page: Episode, month: int, day: int) -> None:
    for _ in range(14):
        text = await page.text()
        shown = next((number for number, name in enumerate(_MONTHS, 1) if name in text), 0)
        if shown == month:
            await page.click("link", "clickable", "gridcell", name=str(day))
            return
        if shown:
            await page.click(name="Prev" if shown > month else "Next", is_part=True)
        await page.act("wait 0.3")
    raise UnsolvedError("no such month")


@solves("book-flight book-flight-nodelay")
async def book_flight(page: Episode) -> None:
    kind, start, end, month, day, _ = page.match(r"the (\w+) one-way flight from: (.+) to: (.+) on (\d+)/(\d+)/(\d+)")
    for field, place in (("From:", start), ("To:", end)):
        await page.type(place, "textbox", "combobox", name=field, way="slowly ")
        await page.act("wait 0.6")
        fitting = [line for line in await page.lines() if place in line.name and line.role not in FIELDS]
        if fitting:
            await page.act(f"click {fitting[0].ref}")
    await page.click("textbox", name="Departure Date")
    await _choose_day(page, int(month), int(day))
    await page.click("button", name="Search")
    await page.act("wait 0.3")
    buttons = [line for line in await page.lines() if line.role == "button" and "$" in line.name]
    if kind == "cheapest":
        chosen = min(buttons, key=lambda line: int(re.sub(r"\D", "", line.name)))
    else:
        times = re.findall(r"(\d+)h (\d+)m", await page.text())
        minutes = [60 * int(hours) + int(rest) for hours, rest in times]
        chosen = buttons[minutes.index(min(minutes))]
    await page.act(f"click {chosen.ref}")


@solves("multi-layouts multi-orderings")
async def search_films(page: Episode) -> None:
    genre, director, year = page.match(r"for ([\w -]+?) movies directed by ([\w .]+?) from year (\d+)")
    fields = await page.find_all("textbox", "searchbox", "spinbutton")
    for word, value in (("genre", genre), ("director", director), ("year", year)):
        field = next((line for line in fields if word in line.name.lower()), None)
        if field is None:
            raise UnsolvedError(f"no field for {word}")
        await page.act(f"type {field.ref} = {value}")
    ends = [line for line in active(await page.lines()) if re.fullmatch("submit|search", line.name, re.I)]
    await page.act(f"click {ends[-1].ref}")


@solves("use-colorwheel")
async def choose_color(page: Episode) -> None:
    name = page.match(r"Select (\w+) with the color picker")[0]
    field = await page.find("textbox")
    await page.act(f"type {field.ref} = {_COLORS[name]} + Enter")
    await page.submit()


@solves("sign-agreement")
async def sign(page: Episode) -> None:
    words = page.quoted()
    if not words:
        await page.click("button", name="Cancel")
        return
    text = (await page.find_all("textbox"))[0]
    await page.act(f"scroll {text.ref} 9000")
    await page.act("wait 0.3")
    await page.type(words[0], "textbox", name="Name")
    await page.click("button", name=words[-1])
