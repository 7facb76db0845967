"""Send mouse and keyboard events that the page cannot tell from those of a person (`isTrusted`)."""

import asyncio
import tomllib
from importlib.resources import files

from browsers.cdp.session import Event, Session

_INPUT_LIMIT_S = 2.0
"""Seconds that a page may take to handle an event. A slower page runs an endless loop, and its script is ended."""
_DRAG_MOVES = 8

_TABLE = tomllib.loads(files(__package__).joinpath("keys.toml").read_text(encoding="utf-8"))
_KEYS: dict[str, int] = _TABLE["codes"] | {f"F{number}": 111 + number for number in range(1, 13)}
"""Windows virtual key code of each key."""
_SYNONYMS: dict[str, str] = _TABLE["synonyms"]
_TEXTS = {"Enter": "\r", "Space": " "}
"""Texts that keys with a name enter."""
_MODIFIERS = {"alt": 1, "control": 2, "ctrl": 2, "meta": 4, "shift": 8}
_CONTROL = 2
_COMMANDS = {"a": "selectAll", "c": "copy", "v": "paste", "x": "cut", "z": "undo"}
_BY_NAME = {name.lower(): name for name in _KEYS}


class UnknownKeyError(ValueError):
    """No key has this name. The message lists the known ones."""


class ScriptEndedError(Exception):
    """The page did not handle an event in time, so its script was ended."""


class InputDevices:
    """Mouse and keyboard of one page, in CSS pixels. Raises ScriptEndedError if an event takes `_INPUT_LIMIT_S`."""

    def __init__(self, session: Session) -> None:
        """Use the session of a page to send the events."""
        self._session = session
        self._drags: list[Event] = []
        session.on("Input.dragIntercepted", lambda event: self._drags.append(event["data"]))

    async def click(self, x: float, y: float, *, count: int = 1, button: str = "left") -> None:
        """Move the mouse to a point and click `count` times."""
        pressed = 2 if button == "right" else 1
        events = [self.move(x, y)]
        for number in range(1, count + 1):
            events.append(self._mouse("mousePressed", x, y, button=button, buttons=pressed, count=number))
            events.append(self._mouse("mouseReleased", x, y, button=button, count=number))
        # Chromium handles them in this order. A wait for each would cost a frame for each.
        await asyncio.gather(*events)

    async def move(self, x: float, y: float) -> None:
        """Move the mouse to a point."""
        await self._mouse("mouseMoved", x, y)

    async def scroll(self, x: float, y: float, pixels: float) -> None:
        """Turn the mouse wheel over a point by a number of pixels; positive numbers scroll down."""
        await self._send("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=pixels)

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from one point to another. HTML drag and drop (`draggable`) works too."""
        self._drags.clear()
        await self._session.send("Input.setInterceptDrags", enabled=True)
        try:
            await self.move(*start)
            await self._mouse("mousePressed", *start, button="left", buttons=1, count=1)
            for number in range(1, _DRAG_MOVES + 1):
                share = number / _DRAG_MOVES
                x, y = (one + (other - one) * share for one, other in zip(start, end, strict=True))
                await self._mouse("mouseMoved", x, y, button="left", buttons=1)
                if self._drags:
                    break
            if self._drags:
                for kind in ("dragEnter", "dragOver", "drop"):
                    await self._send("Input.dispatchDragEvent", type=kind, x=end[0], y=end[1], data=self._drags[0])
            await self._mouse("mouseReleased", *end, button="left", count=1)
        finally:
            self._session.post("Input.setInterceptDrags", enabled=False)

    async def press(self, keys: str) -> None:
        """Press a key with optional modifiers, such as `Control+a`. Raises UnknownKeyError for unknown ones."""
        *held, key = ["+"] if keys == "+" else [part.strip() for part in keys.split("+")]
        bits = 0
        for name in held:
            if name.lower() not in _MODIFIERS:
                raise UnknownKeyError(f"{name[:20]!r} is not a modifier; there are Alt, Control, Meta and Shift")
            bits |= _MODIFIERS[name.lower()]
        name = _SYNONYMS.get(key.lower()) or _BY_NAME.get(key.lower()) or key
        if name not in _KEYS and len(name) != 1:
            keys = ", ".join(list(_KEYS)[:15])
            raise UnknownKeyError(f"{key[:20]!r} is not a key: use click for a button; keys are {keys} and characters")
        commands = [_COMMANDS[name.lower()]] if bits == _CONTROL and name.lower() in _COMMANDS else []
        await self._key(name, bits, commands)

    async def type_keys(self, text: str) -> None:
        """Type a text key by key."""
        for letter in text:
            await self._key(letter, 0, [])

    async def insert(self, text: str) -> None:
        """Insert a text at the cursor without key events."""
        await self._send("Input.insertText", text=text)

    async def _key(self, name: str, modifiers: int, commands: list[str]) -> None:
        code = _KEYS.get(name) or ord(name.upper()[0])
        text = "" if modifiers & ~8 else _TEXTS.get(name, "" if name in _KEYS else name)
        event: Event = {
            "key": " " if name == "Space" else name,
            "code": name if name in _KEYS else f"Key{name.upper()}" if name.isascii() and name.isalpha() else "",
            "windowsVirtualKeyCode": code if code < 256 else 0,
            "modifiers": modifiers,
        }
        down = event | ({"text": text} if text else {}) | ({"commands": commands} if commands else {})
        await self._send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **down)
        await self._send("Input.dispatchKeyEvent", type="keyUp", **event)

    async def _mouse(
        self, kind: str, x: float, y: float, *, button: str = "none", buttons: int = 0, count: int = 0
    ) -> None:
        await self._send(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=count
        )

    async def _send(self, method: str, **params: object) -> None:
        try:
            await self._session.send(method, limit_s=_INPUT_LIMIT_S, **params)
        except TimeoutError:
            self._session.post("Runtime.terminateExecution")
            raise ScriptEndedError("the page's script did not end within two seconds, and was ended") from None
