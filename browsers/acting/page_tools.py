"""Tools that a page offers to agents (WebMCP): list them, call them, and read their results.

All texts are the page's: they are cleaned, bounded, and written in quotes or after a mark.
"""

import asyncio
import contextlib
import enum
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from browsers.acting.frame_processes import ElementActionError
from browsers.acting.page_outlines import PageOutlines
from browsers.acting.page_requests import SET_ACT, ActingMode, RequestGuard, site_of
from browsers.acting.roles_and_names import is_card_number
from browsers.acting.step_parser import Step
from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.errors import BrowsersError
from browsers.text_quoting import clean_text, join_first, quote, truncate

MAX_TOOLS = 200
"""Tools of one page. Further ones are only counted."""
_MAX_LISTED, _LIST_CHARS = 20, 2_400
"""Tools in an outline, and their characters: about 600 tokens."""
_MAX_ADDED, _MAX_NAMED = 8, 5
_MAX_LINE, _MAX_DESCRIPTION, _MAX_NAME = 300, 160, 128
_MAX_PARAMETERS, _MAX_OPTIONS, _MAX_DEPTH = 12, 6, 2
_MAX_RESULT = 6_000
_MAX_ERROR = _MAX_QUESTION = 300
_CALL_S, _CANCEL_S, _POLL_S = 20.0, 2.0, 0.1
_FILL_S = 0.4
"""Seconds until a form is filled that a person must send: it gives no answer before."""
_KINDS = {"integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


class PageToolsMode(enum.StrEnum):
    """The operator's rule for tools of pages."""

    ON = "on"
    """While a tool runs that says that it only reads, scripts may send data to its site also without acting."""
    STRICT = "strict"
    """The words of a tool permit nothing."""
    OFF = "off"


class PageToolError(ElementActionError):
    """A tool cannot be called, or failed. The message quotes text of the page."""


@dataclass(frozen=True, slots=True)
class PageTool:
    """One tool of a page."""

    name: str
    frame_id: str
    session: Session = field(repr=False)
    line: str = ""
    """Line of an outline: name, parameters, hints and description."""
    reads: bool = False
    consequential: bool = False
    is_sent: bool = True
    """False for a form that a person must send after it was filled."""
    secrets: frozenset[str] = frozenset()
    """Parameters that are passwords by their format."""


class PageTools:
    """Tools of all frames of one page, as Chromium reports them."""

    def __init__(self, mode: PageToolsMode) -> None:
        """Start without tools. Call `watch` for the session of each process."""
        self.mode = mode
        self._uncounted = 0
        """Tools beyond `MAX_TOOLS`."""
        self._listed: dict[str, str] = {}
        """Lines of the tools that the agent knows, and their names."""
        self._tools: dict[tuple[str, str], PageTool] = {}
        self._urls: dict[str, str] = {}
        self._answers: dict[str, asyncio.Future[Event]] = {}

    def watch(self, session: Session) -> None:
        """Receive the tools of the frames of one process."""
        if self.mode is PageToolsMode.OFF:
            return
        session.on("WebMCP.toolsAdded", lambda event: self._on_added(session, event))
        session.on("WebMCP.toolsRemoved", self._on_removed)
        session.on("WebMCP.toolResponded", self._on_responded)
        session.on("Page.frameNavigated", lambda event: self._on_document(**event["frame"]))
        session.on("Page.frameDetached", lambda event: self._on_document(event["frameId"], parentId=""))
        session.post("WebMCP.enable")

    def url_of(self, tool: PageTool) -> str:
        """Return the URL of the document that offers a tool."""
        return self._urls.get(tool.frame_id, "")

    def lines(self, words: str = "") -> list[str]:
        """Return the lines for an outline, at most `_LIST_CHARS`; with words, those of the tools that have them all."""
        self._listed = {tool.line: tool.name for tool in self._alive()}
        wanted = clean_text(words).lower().split()
        found = [line for line in self._listed if all(word in line.lower() for word in wanted)]
        sizes = itertools.accumulate(len(line) + 1 for line in found[:_MAX_LISTED])
        lines = [line for line, size in zip(found, sizes, strict=False) if size <= _LIST_CHARS]
        hidden = len(found) - len(lines) + (0 if wanted else self._uncounted)
        head = ["tools of the page, for `call NAME {json}`:"] if lines else []
        return [*head, *lines, *([f"… {hidden} more tools: look with words of them"] if hidden else [])]

    def changes(self) -> list[str]:
        """Return lines for the tools that were added (+) and removed (-) since they were last listed."""
        now = {tool.line: tool.name for tool in self._alive()}
        added = [line for line in now if line not in self._listed]
        removed = [quote(name) for line, name in self._listed.items() if line not in now]
        self._listed = now
        lines = [f"+ {line}" for line in added[:_MAX_ADDED]]
        if len(added) > _MAX_ADDED:
            lines.append(f"… {len(added) - _MAX_ADDED} more tools: look with words of them")
        if removed:
            lines.append(f"- tool {join_first(removed, _MAX_NAMED)}")
        return lines

    def find(self, name: str) -> PageTool:
        """Return the tool of a name. Raises PageToolError if there is none, or if several frames have one."""
        if self.mode is PageToolsMode.OFF:
            raise PageToolError("SEARCH_MCP_PAGE_TOOLS=off uses no tools of pages")
        name, tools = _show_name(name), self._alive()
        found = [tool for tool in tools if _show_name(tool.name) == name]
        if len(found) > 1:
            raise PageToolError(f"{len(found)} frames of the page have a tool {quote(name)}")
        if not found:
            known = ", ".join(quote(_show_name(tool.name)) for tool in tools[:_MAX_ADDED])
            raise PageToolError(f"the page has no tool {quote(name)}; it has {known or 'none'}")
        return found[0]

    async def call(
        self, tool: PageTool, arguments: Mapping[str, Any], *, limit_s: float, is_refused: Callable[[], bool]
    ) -> list[str]:
        """Call a tool and return the lines of its result; none for a form, or if it led to another document.

        The call ends at once if `is_refused` returns True: a form whose document is refused never answers. Raises
        PageToolError if the tool failed or did not answer in time, and CommandFailedError if its frame is gone.
        """
        limit_s = min(limit_s, _CALL_S)
        # Canceled calls may answer later.
        self._answers.clear()
        started = await tool.session.send(
            "WebMCP.invokeTool", toolName=tool.name, frameId=tool.frame_id, input=dict(arguments), limit_s=limit_s
        )
        call_id = str(started["invocationId"])
        answer = self._answers.setdefault(call_id, asyncio.get_running_loop().create_future())
        try:
            async with asyncio.timeout(limit_s if tool.is_sent else _FILL_S):
                while not answer.done() and tool.session.is_alive:
                    if is_refused():
                        await self._cancel(tool, call_id)
                        return []
                    await asyncio.wait({answer}, timeout=_POLL_S)
        except TimeoutError:
            if not tool.is_sent:
                return []
            await self._cancel(tool, call_id)
            raise PageToolError(f"the tool did not answer within {limit_s:.0f} s and was canceled") from None
        return _read_answer(answer.result()) if answer.done() else []

    @staticmethod
    async def _cancel(tool: PageTool, call_id: str) -> None:
        with contextlib.suppress(CommandFailedError, BrowsersError):
            try:
                await tool.session.send("WebMCP.cancelInvocation", invocationId=call_id, limit_s=_CANCEL_S)
            except TimeoutError:
                # Its script runs without end, so that Chromium cannot deliver the cancellation.
                tool.session.post("Runtime.terminateExecution")

    def _alive(self) -> list[PageTool]:
        return [tool for tool in self._tools.values() if tool.session.is_alive]

    def _on_document(self, id: str, url: str = "", **facts: object) -> None:
        """Forget the tools of a frame, or of all below a new main document: Chromium does not report their end."""
        is_main = "parentId" not in facts
        self._tools = {key: tool for key, tool in self._tools.items() if not is_main and key[0] != id}
        self._urls = {id: url} if is_main else {**self._urls, id: url}
        self._uncounted *= not is_main

    def _on_added(self, session: Session, event: Event) -> None:
        for row in event["tools"]:
            tool = _read_tool(row, session)
            if len(self._tools) < MAX_TOOLS or (tool.frame_id, tool.name) in self._tools:
                self._tools[tool.frame_id, tool.name] = tool
            else:
                self._uncounted += 1

    def _on_removed(self, event: Event) -> None:
        for row in event["tools"]:
            if self._tools.pop((str(row["frameId"]), str(row["name"])), None) is None:
                self._uncounted = max(0, self._uncounted - 1)

    def _on_responded(self, event: Event) -> None:
        # The answer may come before that of `invokeTool`.
        answer = self._answers.setdefault(str(event["invocationId"]), asyncio.get_running_loop().create_future())
        if not answer.done():
            answer.set_result(event)


@dataclass(slots=True)
class PageToolCall:
    """Call of a tool in a step. The request guard holds as for a click; the words of the tool may only open it."""

    tools: PageTools
    guard: RequestGuard
    outlines: PageOutlines
    step: Step
    notice: Callable[[str], None]
    """Add a line to the answer of the step."""
    tool: PageTool = field(init=False)

    async def run(self, deadline_at: float) -> tuple[str, ...]:
        """Return the lines of the result, or nothing. Raises PageToolError if the call is refused or fails."""
        guard, tool = self.guard, self.tools.find(self.step.text)
        self.tool = tool
        guard.open_site = await self._check(deadline_at)
        left_s, result = deadline_at - time.monotonic(), []
        try:
            result = await self.tools.call(
                tool, self.step.arguments, limit_s=left_s, is_refused=lambda: guard.has_refused_document
            )
        except PageToolError:
            # A refusal explains the failure, and is reported later.
            if not guard.refused_writes and not guard.refused_hosts:
                raise
        finally:
            guard.open_site = ""
        for sent in guard.open_sends[:1]:
            self.notice(f"sent {sent}, because the tool says that it only reads")
        if result:
            for refused in guard.refused_writes[:1]:
                self.notice(f"not sent: {refused}")
            guard.refused_writes.clear()
        elif not tool.is_sent:
            self.notice("the form is filled and not sent: press its button to send it")
        return ("returned:", *result) if result else ()

    async def _check(self, deadline_at: float) -> str:
        """Return the site to which a call may send data. Raises PageToolError if the call is refused."""
        guard, tool = self.guard, self.tool
        is_read_only, is_asked = guard.mode is ActingMode.READ, tool.consequential and guard.ask is not None
        if tool.consequential and is_read_only:
            says = "the page says that this tool has consequences, and SEARCH_MCP_ACTING=read only reads"
            raise PageToolError(f"refused: {says}; {SET_ACT}")
        text = quote(truncate(clean_text(self.step.source), _MAX_QUESTION))
        question = f"May the step {text} run? The page says that this tool has consequences."
        if is_asked and not await guard.ask_in_time(question, deadline_at - time.monotonic()):
            raise PageToolError("refused: the person did not allow it")
        await self._hide_secrets()
        is_open = is_asked or (is_read_only and tool.reads and self.tools.mode is PageToolsMode.ON)
        return site_of(self.tools.url_of(tool)) if is_open else ""

    async def _hide_secrets(self) -> None:
        """Refuse passwords, cards and codes in `read`, as `type` does; else redact them in all later answers."""
        await self.outlines.take()
        names = self.tool.secrets | self.outlines.secret_names()
        arguments = _iter_arguments(self.step.arguments)
        values = [text for name, text in arguments if name in names or is_card_number(text)]
        if values and self.guard.mode is ActingMode.READ:
            raise PageToolError(f"refused: SEARCH_MCP_ACTING=read types no passwords, cards or codes; {SET_ACT}")
        self.outlines.hide(values)


def _iter_arguments(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts and numbers in the arguments of a tool, each with the name of its parameter."""
    waiting: list[tuple[str, Any]] = list(arguments.items())
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += ((name, part) for part in value)
        elif value not in (None, True, False):
            yield name, str(value)


def _read_tool(row: Mapping[str, Any], session: Session) -> PageTool:
    hints, schema = row.get("annotations") or {}, row.get("inputSchema")
    is_form, submits = "backendNodeId" in row, bool(hints.get("autosubmit"))
    flags = {
        "reads": bool(hints.get("readOnly")),
        "consequential": bool(hints.get("consequential")),
        "form, not sent": is_form and not submits,
    }
    marks = ", ".join(name for name, is_set in flags.items() if is_set)
    name = str(row["name"])
    shown = name if name.isascii() and " " not in name and _show_name(name) == name else quote(_show_name(name))
    # Long texts are cut first: they may have megabytes.
    about = truncate(clean_text(str(row.get("description") or "")[: 4 * _MAX_DESCRIPTION]), _MAX_DESCRIPTION)
    line = f"tool {shown}({_write_parameters(schema, 0)}){f' [{marks}]' if marks else ''} {quote(about)}"
    return PageTool(
        name,
        str(row["frameId"]),
        session,
        truncate(line, _MAX_LINE),
        reads=flags["reads"],
        consequential=flags["consequential"],
        is_sent=submits or not is_form,
        secrets=frozenset(
            name
            for name, value in _properties(schema).items()
            if isinstance(value, Mapping) and value.get("format") == "password"
        ),
    )


def _show_name(name: str) -> str:
    return truncate(clean_text(name[: 4 * _MAX_NAME]).replace('"', "'"), _MAX_NAME)


def _properties(schema: object) -> Mapping[str, Any]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _write_parameters(schema: object, depth: int) -> str:
    properties = _properties(schema)
    required = schema.get("required") if isinstance(schema, Mapping) else None
    parts = []
    for name, value in list(properties.items())[:_MAX_PARAMETERS]:
        shown = name if name.isidentifier() and name.isascii() and len(name) <= 40 else quote(_show_name(name)[:40])
        is_required = isinstance(required, list) and name in required
        parts.append(f"{shown}{'' if is_required else '?'}: {_write_type(value, depth)}")
    if len(properties) > _MAX_PARAMETERS:
        parts.append(f"… {len(properties) - _MAX_PARAMETERS} more")
    return ", ".join(parts)


def _write_type(value: object, depth: int) -> str:
    if not isinstance(value, Mapping):
        return "any"
    if isinstance(options := value.get("enum"), list) and options:
        shown = [quote(truncate(clean_text(str(one)[:100]), 20)) for one in options[:_MAX_OPTIONS]]
        return "|".join([*shown, *(["…"] if len(options) > _MAX_OPTIONS else [])])
    kind = value.get("type")
    if kind == "object" and depth < _MAX_DEPTH:
        return f"{{{_write_parameters(value, depth + 1)}}}"
    if kind == "array" and depth < _MAX_DEPTH:
        return f"[{_write_type(value.get('items'), depth + 1)}]"
    if kind == "string":
        return "date" if value.get("format") == "date" else "text"
    return _KINDS.get(str(kind), "any")


def _read_answer(event: Event) -> list[str]:
    """Return the lines of a result, each with the mark `| `, so that none of them can pass for a step."""
    if event["status"] != "Completed":
        exception = event.get("exception") or {}
        reason = event.get("errorText") or exception.get("description") or exception.get("value") or event["status"]
        raise PageToolError(f"the tool failed: {_quote_error(str(reason).partition(chr(10))[0])}")
    text, is_error = _read_output(event.get("output"))
    if is_error:
        raise PageToolError(f"the tool answered with an error: {_quote_error(text)}")
    lines: list[str] = []
    left = _MAX_RESULT
    for line in text[: 4 * _MAX_RESULT].split("\n") if text.strip() else ():
        shown = f"| {clean_text(line)}"
        lines.append(truncate(shown, max(3, left)))
        left -= len(shown) + 1
        if left < 0:
            lines.append(f"… cut: the result has {len(text)} characters; ask the tool for less")
            break
    return lines


def _quote_error(text: str) -> str:
    return quote(truncate(clean_text(text[: 4 * _MAX_ERROR]), _MAX_ERROR))


def _read_output(output: object) -> tuple[str, bool]:
    """Return the text of a result, and True if the tool calls it an error."""
    if output in (None, [], {}, "undefined"):
        return "", False
    if isinstance(output, str):
        return output, False
    if isinstance(output, Mapping) and isinstance(blocks := output.get("content"), list):
        text = "\n".join(_iter_texts(blocks))
        if not text and (structured := output.get("structuredContent")) is not None:
            text = json.dumps(structured, ensure_ascii=False)
        return text, bool(output.get("isError"))
    return json.dumps(output, ensure_ascii=False, separators=(",", ":")), False


def _iter_texts(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Mapping):
            kind, text = clean_text(str(block.get("type"))[:20]), block.get("text")
            yield text if isinstance(text, str) else f"({kind} left out)"
