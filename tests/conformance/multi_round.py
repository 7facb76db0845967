"""Tools and a prompt of 2026-07-28 that answer with questions until the client has answered them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
)

from tests.conformance.content import text

_PREFIX = "test_input_required_result_"
Answers = Mapping[str, Any]
InputRequests = dict[str, CreateMessageRequest | ListRootsRequest | ElicitRequest]


def add(server: MCPServer[Any]) -> None:
    """Add the tools and the prompt."""
    name = _form("What is your name?", name="string")
    capital = _to_model("What is the capital of France?")
    confirm = _form("Please confirm", ok="boolean")
    everything = {"user_name": name, "greeting": _to_model("Say hi"), "client_roots": ListRootsRequest()}

    _asking(server, "elicitation", {"user_name": name}, _greeting)
    _asking(server, "sampling", {"capital_question": capital}, _models_word)
    _asking(server, "list_roots", {"client_roots": ListRootsRequest()}, _count_of_roots)
    _asking(server, "request_state", {"confirm": confirm}, lambda _: "state-ok", state="of this request")
    _asking(server, "tampered_state", {"confirm": confirm}, lambda _: "state-ok", state="of the first round")
    _asking(server, "multiple_inputs", everything, lambda _: "all received", state="of all three")
    _add_rounds(server)
    _add_gated(server)
    _add_prompt(server)


def _form(message: str, **fields: str) -> ElicitRequest:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _to_model(question: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=text(question))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=64))


def _field(answers: Answers, question: str, field: str) -> Any:
    """Return the value that the user entered; None unless they accepted."""
    given = answers.get(question)
    if isinstance(given, ElicitResult) and given.action == "accept":
        return (given.content or {}).get(field)
    return None


def _greeting(answers: Answers) -> str | None:
    name = _field(answers, "user_name", "name")
    return f"Hello, {name}!" if name else None


def _models_word(answers: Answers) -> str:
    content = getattr(answers["capital_question"], "content", None)
    return f"The model said: {getattr(content, 'text', '?')}"


def _count_of_roots(answers: Answers) -> str:
    return f"The client has {len(getattr(answers['client_roots'], 'roots', []))} roots"


def _asking(
    server: MCPServer[Any],
    name: str,
    questions: dict[str, Any],
    settled: Callable[[Answers], str | None],
    state: str | None = None,
) -> None:
    """Add a tool that asks until every question has an answer that `settled` accepts."""

    async def run(ctx: Context) -> str | InputRequiredResult:
        answers = ctx.input_responses or {}
        complete = questions.keys() <= answers.keys() and state in {None, ctx.request_state}
        answer = settled(answers) if complete else None
        return answer or InputRequiredResult(input_requests=questions, request_state=state)

    server.add_tool(run, name=_PREFIX + name, description=f"Asks back: {name}.")


def _add_rounds(server: MCPServer[Any]) -> None:
    first: InputRequests = {"step1": _form("Step 1: What is your name?", name="string")}
    second: InputRequests = {"step2": _form("Step 2: Which color do you like?", color="string")}

    @server.tool(name=_PREFIX + "multi_round", description="Asks twice.")
    async def run(ctx: Context) -> str | InputRequiredResult:
        answers, state = ctx.input_responses or {}, json.loads(ctx.request_state or "{}")
        color = _field(answers, "step2", "color")
        if state.get("round") == 2 and color:
            return f"{state['name']} likes {color}"
        name = _field(answers, "step1", "name")
        if state.get("round") == 1 and name:
            return InputRequiredResult(input_requests=second, request_state=json.dumps({"round": 2, "name": name}))
        return InputRequiredResult(input_requests=first, request_state=json.dumps({"round": 1}))


def _add_gated(server: MCPServer[Any]) -> None:
    @server.tool(name=_PREFIX + "capabilities", description="Asks only what the client can answer.")
    async def run(ctx: Context) -> InputRequiredResult:
        able = ctx.client_capabilities
        questions: InputRequests = {}
        if able is None or able.sampling is not None:
            questions["model"] = _to_model("hello")
        if able is None or able.elicitation is not None:
            questions["user"] = _form("What is your name?", name="string")
        return InputRequiredResult(input_requests=questions, request_state="gated")


def _add_prompt(server: MCPServer[Any]) -> None:
    question: InputRequests = {"user_context": _form("Which context?", context="string")}

    async def run(ctx: Context) -> Any:
        context = _field(ctx.input_responses or {}, "user_context", "context")
        if context:
            return [UserMessage(text(f"The context is: {context}"))]
        return InputRequiredResult(input_requests=question)

    prompt = Prompt.from_function(run, name="test_input_required_result_prompt", description="A prompt that asks back.")
    server.add_prompt(prompt)
